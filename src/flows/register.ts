import type pg from 'pg';
import { refuseRegistration } from '../oauth/redirectUri.ts';
import { RIGHT_NAMES } from '../oauth/scope.ts';
import { byteLength, findUnclearInName } from '../oauth/text.ts';
import { sha256 } from '../secrets/digest.ts';
import { hashPassword, LONGEST_PASSWORD_BYTES } from '../secrets/password.ts';
import { randomHex } from '../secrets/random.ts';
import { insertClientSecret } from '../store/clientSecrets.ts';
import { insertClient, listClients } from '../store/clients.ts';
import { type Database, transaction } from '../store/database.ts';
import { insertResource } from '../store/resources.ts';
import { deleteSessionsOfUser } from '../store/sessions.ts';
import { findUserByLogin, insertUser, markUserPasswords, markUserStatus } from '../store/users.ts';
import { lookAlikeProblem } from './lookAlike.ts';

// What is copied by hand is hex: it needs no escaping in a form, a header or a shell.
const ID_BYTES = 16;
const SECRET_BYTES = 32;
const SECRET_ID_BYTES = 4;

const LONGEST_NAME = 100;
const LONGEST_LOGIN = 128;

/** A registration that can't be made; the message says what to change. */
export class RegistrationError extends Error {}

/** What an operator says of a new application (contract 2.1). */
export interface NewClient {
  readonly name: string;
  readonly redirectUri: string;
  readonly verified: boolean;
  readonly allowedRights: readonly string[] | null;
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
  { force = false }: { readonly force?: boolean } = {},
): Promise<RegisteredClient> {
  checkName('name', client.name);
  if (!force) await refuseLookAlike(pool, client.name);
  const refusal = refuseRegistration(client.redirectUri);
  if (refusal !== undefined) throw new RegistrationError(`the redirect URI can't be registered: ${refusal}`);
  const unknown = client.allowedRights?.find((right) => !(RIGHT_NAMES as readonly string[]).includes(right));
  if (unknown !== undefined) {
    throw new RegistrationError(`${unknown} is not a right; there are: ${RIGHT_NAMES.join(', ')}`);
  }
  const clientId = randomHex(ID_BYTES);
  return transaction(pool, async (db) => {
    await insertClient(db, { clientId, ...client });
    const clientSecret = client.verified ? (await addClientSecret(db, clientId)).clientSecret : null;
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

/** Makes another secret for an application; the others stay live until they are retired. */
export async function addClientSecret(
  db: Database,
  clientId: string,
): Promise<{ secretId: string; clientSecret: string }> {
  const secretId = randomHex(SECRET_ID_BYTES);
  const clientSecret = randomHex(SECRET_BYTES);
  await insertClientSecret(db, clientId, secretId, sha256(clientSecret));
  return { secretId, clientSecret };
}

/** The passwords of a user; `paymentPassword` null for none. */
export interface Passwords {
  readonly password: string;
  readonly paymentPassword: string | null;
}

/** What an operator says of a new user. */
export interface NewUser extends Passwords {
  readonly login: string;
  readonly name: string;
}

/** @returns the id of the new user @throws {RegistrationError} */
export async function registerUser(db: Database, user: NewUser): Promise<string> {
  checkName('name', user.name);
  checkName('login', user.login, LONGEST_LOGIN);
  const userId = await insertUser(db, { login: user.login, name: user.name, ...(await hashPasswords(user)) });
  if (userId === undefined) throw new RegistrationError(`the login ${user.login} is taken`);
  return userId;
}

/**
 * Sets a new password, and a new payment password unless it is null. Every session of the user ends: whoever
 * knew the old one is out.
 *
 * @returns whether there is such a user
 * @throws {RegistrationError}
 */
export async function setPasswords(pool: pg.Pool, login: string, passwords: Passwords): Promise<boolean> {
  const { passwordHash, paymentPasswordHash } = await hashPasswords(passwords);
  return endingSessions(pool, (db) => markUserPasswords(db, login, passwordHash, paymentPasswordHash));
}

/**
 * Blocks a user: every session ends for good, codes and tokens are refused until the user is unblocked.
 *
 * @returns whether there is such a user
 */
export async function blockUser(pool: pg.Pool, login: string): Promise<boolean> {
  return endingSessions(pool, (db) => markUserStatus(db, login, 'blocked'));
}

/** Ends every session of a user, who may sign in again at once. @returns whether there is such a user */
export async function signOutUser(pool: pg.Pool, login: string): Promise<boolean> {
  return endingSessions(pool, async (db) => (await findUserByLogin(db, login))?.userId);
}

/**
 * Changes a user and then ends the sessions. Two statements, so that the second sees a sign-in that the first
 * had to wait for.
 */
function endingSessions(
  pool: pg.Pool,
  change: (db: Database) => Promise<string | undefined>,
): Promise<boolean> {
  return transaction(pool, async (db) => {
    const userId = await change(db);
    if (userId !== undefined) await deleteSessionsOfUser(db, userId);
    return userId !== undefined;
  });
}

/** @returns whether there is such a user */
export async function unblockUser(db: Database, login: string): Promise<boolean> {
  return (await markUserStatus(db, login, 'active')) !== undefined;
}

/** Registers a caller of introspection. @throws {RegistrationError} */
export async function registerResource(
  db: Database,
  name: string,
): Promise<{ resourceId: string; resourceSecret: string }> {
  checkName('name', name);
  const resourceId = randomHex(ID_BYTES);
  const resourceSecret = randomHex(SECRET_BYTES);
  await insertResource(db, resourceId, name, sha256(resourceSecret));
  return { resourceId, resourceSecret };
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

async function hashPasswords({ password, paymentPassword }: Passwords) {
  checkPassword('password', password);
  if (paymentPassword !== null) checkPassword('payment password', paymentPassword);
  return {
    passwordHash: await hashPassword(password),
    paymentPasswordHash: paymentPassword === null ? null : await hashPassword(paymentPassword),
  };
}

/** What can't be typed into the form of a page can't be a password. */
function checkPassword(what: string, password: string): void {
  if (password === '' || byteLength(password) > LONGEST_PASSWORD_BYTES || /\p{Cc}/u.test(password)) {
    throw new RegistrationError(
      `the ${what} needs 1 to ${LONGEST_PASSWORD_BYTES} bytes and no control characters`,
    );
  }
}
