import type pg from 'pg';
import { MAX_LOGIN_BYTES } from '../rules/limits.ts';
import { type Database, select, selectLong, selectOne } from './database.ts';

/** A person with an account. */
export interface User {
  readonly userId: string;
  readonly login: string;
  readonly name: string;
  readonly status: 'active' | 'blocked';
}

/** A user with what a sign-in is checked against. */
export interface UserWithPasswords extends User {
  readonly passwordHash: string;
  readonly paymentPasswordHash: string | null;
}

/**
 * The one spelling that a login is compared in: logins ignore case, ways of writing the same letter, and what can't be
 * seen. PostgreSQL's own `lower` depends on its locale.
 */
export function loginKey(login: string): string {
  // Normalising can take quadratic time. No login has a key with capitals.
  if (Buffer.byteLength(login) > MAX_LOGIN_BYTES) return `TOO LONG ${login}`;
  const visible = login.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
  return visible.normalize('NFKC').toLowerCase().normalize('NFKC');
}

const USER_COLUMNS = 'user_id as "userId", login, name, status';
const PASSWORD_COLUMNS = 'password_hash as "passwordHash", payment_password_hash as "paymentPasswordHash"';

const findByKey = {
  name: 'user-find-by-key',
  text: `select ${USER_COLUMNS}, ${PASSWORD_COLUMNS} from users where login_key = $1`,
};

/** The user of a login, whatever its status; logins ignore case. */
export function findUserByLogin(db: Database, login: string): Promise<UserWithPasswords | undefined> {
  return findUserByKey(db, loginKey(login));
}

/** Like {@link findUserByLogin}, by the {@link loginKey}. */
export function findUserByKey(db: Database, key: string): Promise<UserWithPasswords | undefined> {
  return selectOne<UserWithPasswords>(db, findByKey, [key]);
}

const list = { name: 'user-list', text: `select ${USER_COLUMNS} from users order by created_at, user_id` };

/** Every user, in the order of creation. */
export function listUsers(db: Database): Promise<User[]> {
  return select<User>(db, list, []);
}

const insert = {
  name: 'user-insert',
  text: `insert into users (login, login_key, name, password_hash, payment_password_hash)
         values ($1, $2, $3, $4, $5)
         on conflict (login_key) do nothing returning user_id as "userId"`,
};

/** @returns the new user's id, or undefined when the login is taken */
export async function insertUser(
  db: Database,
  user: { login: string; name: string; passwordHash: string; paymentPasswordHash: string | null },
): Promise<string | undefined> {
  const values = [user.login, loginKey(user.login), user.name, user.passwordHash, user.paymentPasswordHash];
  return (await selectOne<{ userId: string }>(db, insert, values))?.userId;
}

const markStatus = {
  name: 'user-mark-status',
  text: `with changed as (update users set status = $2 where login_key = $1 and status <> $2 returning user_id)
         select user_id as "userId", exists (select from changed) as changed from users where login_key = $1`,
};

/** Which user an operator's command was about, and whether anything is otherwise than before. */
export interface UserChange {
  readonly userId: string;
  readonly changed: boolean;
}

/** Blocks or unblocks. @returns undefined when there is no such user */
export function markUserStatus(
  db: Database,
  login: string,
  status: User['status'],
): Promise<UserChange | undefined> {
  return selectOne<UserChange>(db, markStatus, [loginKey(login), status]);
}

const markPasswords = {
  name: 'user-mark-passwords',
  text: `update users set password_hash = $2, payment_password_hash = coalesce($3, payment_password_hash)
          where login_key = $1 returning user_id as "userId"`,
};

/**
 * Sets a new password, and a new payment password unless it is null.
 *
 * @returns the user's id, undefined when there is no such user
 */
export async function markUserPasswords(
  db: Database,
  login: string,
  passwordHash: string,
  paymentPasswordHash: string | null,
): Promise<string | undefined> {
  const values = [loginKey(login), passwordHash, paymentPasswordHash];
  return (await selectOne<{ userId: string }>(db, markPasswords, values))?.userId;
}

const remove = { name: 'user-delete', text: 'delete from users where user_id = $1 returning user_id' };

/** Deletes a user with sessions and grants, within a transaction. @returns whether there was one */
export async function deleteUser(connection: pg.PoolClient, userId: string): Promise<boolean> {
  return (await selectLong(connection, remove, [userId])).length > 0;
}
