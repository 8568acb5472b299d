import type pg from 'pg';
import { refuseRegistration } from '../oauth/redirectUri.ts';
import { RIGHT_NAMES } from '../oauth/scope.ts';
import { byteLength, findUnclearInName } from '../oauth/text.ts';
import { hashPassword, LONGEST_PASSWORD_BYTES } from '../secrets/password.ts';
import { randomHex } from '../secrets/random.ts';
import { type Act, nameOperator, noteAct } from '../store/auditEvents.ts';
import { type ClientSettings, insertClient, listClients } from '../store/clients.ts';
import { type Database, transaction } from '../store/database.ts';
import { insertResource } from '../store/resources.ts';
import { deleteSessionsOfUser } from '../store/sessions.ts';
import {
  deleteUser,
  findUserByLogin,
  insertUser,
  markUserPasswords,
  markUserStatus,
} from '../store/users.ts';
import { lookAlikeProblem } from './lookAlike.ts';
import { revokeAll } from './revokeAll.ts';
import { makeSecret } from './secrets.ts';

const ID_BYTES = 16;

const LONGEST_NAME = 100;
const LONGEST_LOGIN = 128;
/** In characters. */
const SHORTEST_PASSWORD = 8;

/** A registration that can't be made; the message says what to change. */
export class RegistrationError extends Error {}

/** What an operator says of a new application (contract 2.1). */
export interface NewClient extends ClientSettings {
  readonly verified: boolean;
}

/** A registered application; `clientSecret` is null without authenticity verification and is shown only once. */
export interface RegisteredClient {
  readonly clientId: string;
  readonly clientSecret: string | null;
}

/** @param force also with a name that looks like something else @throws {RegistrationError} */
export async function registerClient(
  pool: pg.Pool,
  client: NewClient,
  operator: string,
  { force = false }: { readonly force?: boolean } = {},
): Promise<RegisteredClient> {
  checkClientSettings(client);
  if (!force) await refuseLookAlike(pool, client.name);
  const clientId = randomHex(ID_BYTES);
  const { verified } = client;
  const detail = { ...settingsOf(client), verified };
  return transaction(pool, async (db) => {
    await insertClient(db, { clientId, ...client });
    await noteAct(db, { kind: 'client_created', operator, clientId, detail });
    const clientSecret = verified ? (await makeSecret(db, 'client', clientId, operator)).secret : null;
    return { clientId, clientSecret };
  });
}

/**
 * Refuses the name of an application that could be taken for something else.
 *
 * @param clientId the application that is to have the name, if it is there already
 * @throws {RegistrationError}
 */
export async function refuseLookAlike(db: Database, name: string, clientId?: string): Promise<void> {
  const others = (await listClients(db)).filter((client) => client.clientId !== clientId);
  const problem = lookAlikeProblem(
    name,
    others.map((client) => client.name),
  );
  if (problem !== undefined)
    throw new RegistrationError(`the name ${problem}: choose another, or say --force`);
}

/** What an application's settings are called outside. */
export function settingsOf({ name, redirectUri, allowedRights, most }: ClientSettings) {
  return { name, redirect_uri: redirectUri, allowed_rights: allowedRights, most };
}

/** @throws {RegistrationError} for a setting that an application can't have */
export function checkClientSettings({ name, redirectUri, allowedRights }: Partial<ClientSettings>): void {
  if (name !== undefined) checkName('name', name);
  const refusal = redirectUri === undefined ? undefined : refuseRegistration(redirectUri);
  if (refusal !== undefined) throw new RegistrationError(`the redirect URI can't be registered: ${refusal}`);
  const unknown = allowedRights?.find((right) => !(RIGHT_NAMES as readonly string[]).includes(right));
  if (unknown !== undefined) {
    throw new RegistrationError(`${unknown} is not a right; there are: ${RIGHT_NAMES.join(', ')}`);
  }
}

/** The passwords of a user; `paymentPassword` null for none. */
export interface Passwords {
  readonly password: string;
  readonly paymentPassword: string | null;
  /** Whether they may be short. */
  readonly allowWeak?: boolean;
}

/** What an operator says of a new user. */
export interface NewUser extends Passwords {
  readonly login: string;
  readonly name: string;
}

/** @returns the id of the new user @throws {RegistrationError} */
export async function registerUser(pool: pg.Pool, user: NewUser, operator: string): Promise<string> {
  checkName('name', user.name);
  checkName('login', user.login, LONGEST_LOGIN);
  const { login, name } = user;
  const hashes = await hashPasswords(user);
  const userId = await transaction(pool, async (db) => {
    const created = await insertUser(db, { login, name, ...hashes });
    if (created !== undefined) {
      await noteAct(db, { kind: 'user_created', operator, userId: created, detail: detailOf(user) });
    }
    return created;
  });
  if (userId === undefined) throw new RegistrationError(`the login ${login} is taken`);
  return userId;
}

/** What the trail says of passwords: whether there is one for payments. */
function detailOf({ paymentPassword }: Passwords) {
  return { payment_password: paymentPassword !== null };
}

/**
 * Sets a new password, and a new payment password unless it is null. Every session of the user ends: whoever
 * knew the old one is out.
 *
 * @returns the user's id, undefined when there is no such user; so do the other verbs
 * @throws {RegistrationError}
 */
export async function setPasswords(
  pool: pg.Pool,
  login: string,
  passwords: Passwords,
  operator: string,
): Promise<string | undefined> {
  const { passwordHash, paymentPasswordHash } = await hashPasswords(passwords);
  const act = { kind: 'user_password_set', operator, detail: detailOf(passwords) } as const;
  return endingSessions(pool, act, (db) => markUserPasswords(db, login, passwordHash, paymentPasswordHash));
}

/** Blocks a user: every session ends for good, codes and tokens are refused until the user is unblocked. */
export function blockUser(pool: pg.Pool, login: string, operator: string): Promise<string | undefined> {
  return endingSessions(pool, { kind: 'user_blocked', operator }, (db) =>
    markUserStatus(db, login, 'blocked'),
  );
}

/** Ends every session of a user, who may sign in again at once. */
export function signOutUser(pool: pg.Pool, login: string, operator: string): Promise<string | undefined> {
  return endingSessions(
    pool,
    { kind: 'user_signed_out', operator },
    async (db) => (await findUserByLogin(db, login))?.userId,
  );
}

/**
 * Changes a user and then ends the sessions. Two statements, so that the second sees a sign-in that the first
 * had to wait for.
 */
function endingSessions(
  pool: pg.Pool,
  act: Act,
  change: (db: Database) => Promise<string | undefined>,
): Promise<string | undefined> {
  return transaction(pool, async (db) => {
    const userId = await change(db);
    if (userId === undefined) return undefined;
    await deleteSessionsOfUser(db, userId);
    await noteAct(db, { ...act, userId });
    return userId;
  });
}

/** Lets a user sign in again. */
export function unblockUser(pool: pg.Pool, login: string, operator: string): Promise<string | undefined> {
  return transaction(pool, async (db) => {
    const userId = await markUserStatus(db, login, 'active');
    if (userId !== undefined) await noteAct(db, { kind: 'user_unblocked', operator, userId });
    return userId;
  });
}

/**
 * Erases a user: the account, its sessions and its authorizations. What is left is the trail, which knows the user's id.
 * The user is blocked first, so that nothing new comes.
 *
 * @returns how many authorizations were taken back
 */
export async function removeUser(
  pool: pg.Pool,
  login: string,
  operator: string,
  progress: (revoked: number) => void,
): Promise<{ userId: string; revoked: number } | undefined> {
  const userId = await blockUser(pool, login, operator);
  if (userId === undefined) return undefined;
  const revoked = await revokeAll(pool, { userId }, operator, progress);
  await transaction(pool, async (connection) => {
    await nameOperator(connection, operator);
    if (await deleteUser(connection, userId)) {
      await noteAct(connection, { kind: 'user_deleted', operator, userId });
    }
  });
  return { userId, revoked };
}

/** Registers a caller of introspection. @throws {RegistrationError} */
export async function registerResource(
  pool: pg.Pool,
  name: string,
  operator: string,
): Promise<{ resourceId: string; resourceSecret: string }> {
  checkName('name', name);
  const resourceId = randomHex(ID_BYTES);
  return transaction(pool, async (db) => {
    await insertResource(db, resourceId, name);
    await noteAct(db, { kind: 'resource_created', operator, resourceId, detail: { name } });
    const { secret } = await makeSecret(db, 'resource', resourceId, operator);
    return { resourceId, resourceSecret: secret };
  });
}

/** Names are shown to people who decide about money: they must not be able to look like something else. */
function checkName(what: string, name: string, longest: number = LONGEST_NAME): void {
  if (name === '' || [...name].length > longest) {
    throw new RegistrationError(`the ${what} needs 1 to ${longest} characters`);
  }
  const unclear = findUnclearInName(name);
  if (unclear !== undefined) {
    throw new RegistrationError(
      `the ${what} has ${unclear}: it needs characters that can be seen, and single spaces between words`,
    );
  }
}

async function hashPasswords({ password, paymentPassword, allowWeak = false }: Passwords) {
  checkPassword('password', password, allowWeak);
  if (paymentPassword !== null) checkPassword('payment password', paymentPassword, allowWeak);
  return {
    passwordHash: await hashPassword(password),
    paymentPasswordHash: paymentPassword === null ? null : await hashPassword(paymentPassword),
  };
}

/** What can't be typed into the form of a page can't be a password. Characters are counted as they are compared. */
function checkPassword(what: string, password: string, allowWeak: boolean): void {
  if (password === '' || byteLength(password) > LONGEST_PASSWORD_BYTES || /\p{Cc}/u.test(password)) {
    throw new RegistrationError(
      `the ${what} needs 1 to ${LONGEST_PASSWORD_BYTES} bytes and no control characters`,
    );
  }
  if (!allowWeak && [...password.normalize('NFKC')].length < SHORTEST_PASSWORD) {
    throw new RegistrationError(
      `the ${what} has fewer than ${SHORTEST_PASSWORD} characters: take a longer one, or say --allow-weak`,
    );
  }
}
