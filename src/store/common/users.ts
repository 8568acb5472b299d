import type pg from 'pg';
import { loginKey } from '../../rules/account/loginKey.ts';
import type { Status } from '../../rules/request/client.ts';
import type { Database } from '../database/database.ts';
import { findOne, queryLong, queryPages, write } from '../database/query.ts';
import { statement } from '../database/statement.ts';

export interface User {
  readonly userId: string;
  readonly login: string;
  readonly name: string;
  readonly status: Status;
}

export interface UserWithPasswords extends User, PasswordHashes {}

export interface PasswordHashes {
  readonly passwordHash: string;
  /** Null for none. */
  readonly paymentPasswordHash: string | null;
}

const USER_COLUMNS = 'user_id as "userId", login, name, status';
const PASSWORD_COLUMNS = 'password_hash as "passwordHash", payment_password_hash as "paymentPasswordHash"';

/** The user whose login has this {@link loginKey}, of any status. */
export const findUserByKey = findOne<{ key: string }, UserWithPasswords>(
  'user-find-by-key',
  `select ${USER_COLUMNS}, ${PASSWORD_COLUMNS} from users where login_key = @key`,
);

/** The same by the login, in any spelling. */
export const findUserByLogin = (db: Database, login: string) => findUserByKey(db, { key: loginKey(login) });

/** Users after a login, with these texts in login and name, and their maximal number. */
export type UserFilter = Partial<Record<'after' | 'login' | 'name', string> & { limit: number | null }>;

const list = statement<Required<UserFilter>>(
  'user-list',
  `select ${USER_COLUMNS} from users
    where login_key > @after and position(@login in login_key) > 0 and position(lower(@name) in lower(name)) > 0
    order by login_key limit @limit`,
);

/** The matching users, ordered by login, in pages. */
export const listUsers = (
  pool: pg.Pool,
  { after = '', login = '', name = '', limit = null }: UserFilter,
): AsyncGenerator<User[]> =>
  queryPages(pool, list({ after: loginKey(after), login: loginKey(login), name, limit }));

export const updateLanguage = write<{ userId: string; language: string }>(
  'user-set-language',
  'update users set language = @language where user_id = @userId and language is distinct from @language',
);

type NewUser = Pick<User, 'login' | 'name'> & PasswordHashes;

const insert = findOne<NewUser & { key: string }, Pick<User, 'userId'>>(
  'user-insert',
  `insert into users (login, login_key, name, password_hash, payment_password_hash)
   values (@login, @key, @name, @passwordHash, @paymentPasswordHash)
   on conflict (login_key) do nothing returning user_id as "userId"`,
);

/** @returns the new user's id, null if the login is taken */
export async function insertUser(db: Database, user: NewUser): Promise<string | null> {
  return (await insert(db, { ...user, key: loginKey(user.login) }))?.userId ?? null;
}

export interface UserChange {
  readonly userId: string;
  readonly changed: boolean;
}

const setStatus = findOne<{ key: string; status: Status }, UserChange>(
  'user-set-status',
  `with changed as (update users set status = @status where login_key = @key and status <> @status returning user_id)
   select user_id as "userId", exists (select from changed) as changed from users where login_key = @key`,
);

/** Blocks or unblocks a user. @returns null if unknown */
export const updateUserStatus = (db: Database, login: string, status: Status): Promise<UserChange | null> =>
  setStatus(db, { key: loginKey(login), status });

const setPasswords = findOne<PasswordHashes & { key: string }, Pick<User, 'userId'>>(
  'user-set-passwords',
  `update users set password_hash = @passwordHash,
                    payment_password_hash = coalesce(@paymentPasswordHash, payment_password_hash)
    where login_key = @key returning user_id as "userId"`,
);

/** Sets a password, and a payment password unless it is null. @returns the user's id, null if unknown */
export async function updateUserPasswords(
  db: Database,
  login: string,
  passwords: PasswordHashes,
): Promise<string | null> {
  return (await setPasswords(db, { ...passwords, key: loginKey(login) }))?.userId ?? null;
}

const remove = statement<{ userId: string }>(
  'user-delete',
  'delete from users where user_id = @userId returning user_id',
);

/** Deletes a user with sessions and grants, within a transaction. @returns true if it existed */
export async function deleteUser(connection: pg.PoolClient, userId: string): Promise<boolean> {
  return (await queryLong(connection, remove({ userId }))).length > 0;
}
