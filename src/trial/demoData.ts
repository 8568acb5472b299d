import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type pg from 'pg';
import { changeClient, registerClient } from '../flows/operators/clients.ts';
import { findResource, registerResource } from '../flows/operators/resources.ts';
import { registerUser, setPasswords } from '../flows/operators/users.ts';
import { listClients } from '../store/clients.ts';
import { transaction } from '../store/database/database.ts';
import { lockForTransaction } from '../store/database/query.ts';
import { listUsers, type User } from '../store/users.ts';
import type { TrialUser } from './demo/settings.ts';
import { readOrMake } from './readOrMake.ts';

/** The advisory lock under which the demo is made: of servers that start together one makes it. Any number will do. */
const DEMO_LOCK = 7_274_827;
const OPERATOR = 'trial mode';
const NAME = 'Demo Shop';
const PAYMENT_API = 'Demo Shop’s payment API';
/** Two, so that one can see what the other sees; the second has no payment password. */
const [FIRST, SECOND] = [
  { login: 'demo', name: 'Dana Demo' },
  { login: 'robin', name: 'Robin Demo' },
] as const;

/** The passwords of a user as they were made; changing them is not noticed here. */
interface Passwords {
  readonly password: string;
  readonly paymentPassword: string | null;
}

/** What `DATA_DIR/demo.json` keeps, so that it can be shown again. */
interface DemoFile extends Passwords {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly login: string;
  /** Left out in a file that has one user only. */
  readonly second?: Passwords & { readonly login: string };
}

/** The demo application of trial mode, its users, and the payment API that it plays. */
export interface Demo {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly users: readonly [TrialUser, ...TrialUser[]];
  readonly resource: { readonly resourceId: string; readonly resourceSecret: string };
}

/**
 * Registers the demo application, its users and its payment API, unless the database has others.
 *
 * @param redirectUri of the demo application; its port may have changed since the last start
 * @returns null when the database has others and no demo
 */
export async function prepareDemo(pool: pg.Pool, dataDir: string, redirectUri: string): Promise<Demo | null> {
  const file = join(dataDir, 'demo.json');
  await transaction(pool, async (db) => {
    await lockForTransaction(db, DEMO_LOCK);
    if (!(await isFree(pool, existsSync(file)))) return;
    const demo = await register(pool, redirectUri);
    rmSync(file, { force: true }); // of a database that was deleted
    readOrMake(file, () => JSON.stringify(demo, null, 2));
  });
  if (!existsSync(file)) return null;
  const demo = readJson<DemoFile>(file);
  const found = await changeClient(pool, demo.clientId, { redirectUri }, OPERATOR);
  if (found === null) return null;
  const { clientId, clientSecret } = demo;
  return { clientId, clientSecret, users: usersOf(demo), resource: await preparePaymentApi(pool, dataDir) };
}

/** Whether the database is empty or, without `demo.json`, has only what a start left that was broken off before writing it. */
async function isFree(pool: pg.Pool, hasFile: boolean): Promise<boolean> {
  const clients = await listClients(pool);
  const users: readonly User[] = (await listUsers(pool, { limit: 3 }).next()).value; // of three one is no demo user
  if (clients.length + users.length === 0) return true;
  const logins: readonly string[] = [FIRST.login, SECOND.login];
  return (
    !hasFile &&
    clients.every(({ name }) => name === NAME) &&
    users.every(({ login }) => logins.includes(login))
  );
}

async function register(pool: pg.Pool, redirectUri: string): Promise<DemoFile> {
  const [first, second] = await Promise.all([
    registerPerson(pool, FIRST, { password: easyToType(), paymentPassword: easyToType() }),
    registerPerson(pool, SECOND, { password: easyToType(), paymentPassword: null }),
  ]);
  const client = { name: NAME, redirectUri, verified: true, allowedRights: null, most: null };
  const { clientId, clientSecret } = await registerClient(pool, client, OPERATOR);
  return { clientId, clientSecret: clientSecret ?? '', ...first, second };
}

async function registerPerson(pool: pg.Pool, user: Record<'login' | 'name', string>, passwords: Passwords) {
  const { login } = user;
  if ((await setPasswords(pool, login, { ...passwords, allowWeak: true }, OPERATOR)) === null) {
    await registerUser(pool, { ...user, ...passwords, allowWeak: true }, OPERATOR);
  }
  return { login, ...passwords };
}

function usersOf({ login, password, paymentPassword, second }: DemoFile): [TrialUser, ...TrialUser[]] {
  const first = { ...FIRST, login, password, paymentPassword };
  return second === undefined ? [first] : [first, { ...SECOND, ...second }];
}

/** The credentials of the payment API, kept in `DATA_DIR/payment-api.json`; made where the file or the database has none. */
async function preparePaymentApi(pool: pg.Pool, dataDir: string): Promise<Demo['resource']> {
  const file = join(dataDir, 'payment-api.json');
  await transaction(pool, async (db) => {
    await lockForTransaction(db, DEMO_LOCK);
    const kept = existsSync(file) ? readJson<Demo['resource']>(file) : null;
    if (kept !== null && (await findResource(pool, kept.resourceId)) !== null) return;
    const resource = await registerResource(pool, PAYMENT_API, OPERATOR);
    rmSync(file, { force: true }); // of a database that was deleted
    readOrMake(file, () => JSON.stringify(resource, null, 2));
  });
  return readJson(file);
}

function readJson<Content>(file: string): Content {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Content;
  } catch (cause) {
    throw new Error(`${file} is damaged: delete ${dirname(file)} to start anew`, { cause });
  }
}

/** Three groups of four letters that can't be mistaken for each other. */
function easyToType(): string {
  const letters = Array.from(randomBytes(12), (byte) => 'abcdefghijkmnopqrstuvwxyz2345679'[byte % 32]);
  return letters.join('').replaceAll(/.{4}(?=.)/g, '$&-');
}
