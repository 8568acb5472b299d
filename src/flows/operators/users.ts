import type pg from 'pg';
import { checkLogin, checkName, checkPassword, RegistrationError } from '../../rules/registration.ts';
import { hashPassword, verifyPassword } from '../../secrets/password.ts';
import { type Act, nameOperator, recordAct } from '../../store/auditEvents.ts';
import { type Database, transaction } from '../../store/database/database.ts';
import { deleteSessionsOfUser } from '../../store/sessions.ts';
import {
  deleteUser,
  findUserByLogin,
  insertUser,
  type PasswordHashes,
  type User,
  type UserChange,
  updateUserPasswords,
  updateUserStatus,
} from '../../store/users.ts';
import { audited } from './audit.ts';
import { revokeAll } from './grants.ts';

export { findUserByLogin, listUsers, type User, type UserFilter } from '../../store/users.ts';

/** The passwords of a user; `paymentPassword` null for none. */
export interface Passwords {
  readonly password: string;
  readonly paymentPassword: string | null;
  /** Accepts passwords that are short, easy to guess, or the same. */
  readonly allowWeak?: boolean;
  /** What no password may be; neither may it be the user's login or name. */
  readonly serviceNames?: readonly string[];
}

/** A user to register. */
export interface NewUser extends Passwords {
  readonly login: string;
  readonly name: string;
}

/** @returns the id of the new user @throws {RegistrationError} */
export async function registerUser(pool: pg.Pool, user: NewUser, operator: string): Promise<string> {
  checkName(user.name);
  checkLogin(user.login);
  const { login, name } = user;
  const hashes = await hashPasswords(user, user);
  return transaction(pool, async (db) => {
    const userId = await insertUser(db, { login, name, ...hashes });
    if (userId === null) throw new RegistrationError(`the login ${login} is taken`);
    await recordAct(db, { kind: 'user_created', operator, userId, detail: detailOf(user) });
    return userId;
  });
}

/** The audit detail of passwords: whether there is one for payments. */
function detailOf({ paymentPassword }: Passwords) {
  return { payment_password: paymentPassword !== null };
}

/**
 * Sets a new password, and a new payment password unless it is null. All sessions of the user end, since the old password
 * may be known to others.
 *
 * @returns null when there is no such user; so do the other verbs
 * @throws {RegistrationError}
 */
export async function setPasswords(
  pool: pg.Pool,
  login: string,
  passwords: Passwords,
  operator: string,
): Promise<UserChange | null> {
  const user = await findUserByLogin(pool, login);
  if (user === null) return null;
  const hashes = await hashPasswords(passwords, user);
  const act = { kind: 'user_password_set', operator, detail: detailOf(passwords) } as const;
  return changeUser(pool, act, async (db) => changeOf(await updateUserPasswords(db, login, hashes)));
}

/** Blocks or unblocks a user. Blocking ends every session for good, and refuses codes and tokens until unblocked. */
export function setUserStatus(
  pool: pg.Pool,
  login: string,
  status: User['status'],
  operator: string,
): Promise<UserChange | null> {
  const kind = status === 'blocked' ? 'user_blocked' : 'user_unblocked';
  return changeUser(pool, { kind, operator }, (db) => updateUserStatus(db, login, status));
}

/** Ends every session of a user, who may sign in again at once. */
export function signOutUser(pool: pg.Pool, login: string, operator: string): Promise<UserChange | null> {
  return changeUser(pool, { kind: 'user_signed_out', operator }, async (db) =>
    changeOf((await findUserByLogin(db, login))?.userId ?? null),
  );
}

/** The result of a change that has no earlier state to compare with. */
function changeOf(userId: string | null): UserChange | null {
  return userId === null ? null : { userId, changed: true };
}

/**
 * Changes a user and, but for unblocking, ends the sessions: in a second statement, so that it sees a sign-in that the first
 * waited for. Only an actual change is audited.
 */
function changeUser(
  pool: pg.Pool,
  act: Act,
  change: (db: Database) => Promise<UserChange | null>,
): Promise<UserChange | null> {
  return transaction(pool, async (db) => {
    const done = await change(db);
    if (done === null) return null;
    const { userId, changed } = done;
    if (act.kind !== 'user_unblocked') await deleteSessionsOfUser(db, userId);
    if (changed) await recordAct(db, { ...act, userId });
    return done;
  });
}

/**
 * Erases a user with sessions and authorizations; the audit trail keeps the user's id. The user is blocked first, so that no
 * authorization is added meanwhile.
 *
 * @returns how many authorizations were revoked
 */
export async function removeUser(
  pool: pg.Pool,
  login: string,
  operator: string,
  progress: (revoked: number) => void,
): Promise<{ userId: string; revoked: number } | null> {
  const { userId } = (await setUserStatus(pool, login, 'blocked', operator)) ?? {};
  if (userId === undefined) return null;
  const revoked = await revokeAll(pool, { userId }, operator, progress);
  await audited(pool, { kind: 'user_deleted', operator, userId }, async (connection) => {
    await nameOperator(connection, operator);
    return deleteUser(connection, userId);
  });
  return { userId, revoked };
}

/** Unless weak ones are allowed, what the user's own page refuses (`changePassword.ts`) is refused here. */
async function hashPasswords(
  { password, paymentPassword, allowWeak = false, serviceNames = [] }: Passwords,
  { login, name, paymentPasswordHash = null }: Pick<User, 'login' | 'name'> & Partial<PasswordHashes>,
) {
  checkPassword('password', password, allowWeak);
  if (paymentPassword !== null) checkPassword('payment password', paymentPassword, allowWeak);
  const passwordHash = await hashPassword(password);
  const paymentHash = paymentPassword === null ? null : await hashPassword(paymentPassword);
  if (!allowWeak) {
    const { isCommonPassword, isOwnName } = await import('../../rules/commonPassword.ts'); // it takes 15 MB
    const names = [login, name, ...serviceNames];
    const turn = { lane: 'stranger', share: '', until: Number.POSITIVE_INFINITY } as const;
    const isSame = await verifyPassword(paymentHash ?? paymentPasswordHash, password, turn);
    const isWeak = (one: string | null) => one !== null && (isCommonPassword(one) || isOwnName(one, names));
    const weak = 'is among those that are tried first, or a name of the user or the service';
    const problem =
      (isWeak(password) && `the password ${weak}`) ||
      (isWeak(paymentPassword) && `the payment password ${weak}`) ||
      (isSame && 'password and payment password are the same');
    if (problem) throw new RegistrationError(`${problem}: take another one, or say --allow-weak`);
  }
  return { passwordHash, paymentPasswordHash: paymentHash };
}
