import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type pg from 'pg';
import * as clients from '../operations/clients.ts';
import { perform } from '../operations/operation.ts';
import * as resources from '../operations/resources.ts';
import * as users from '../operations/users.ts';
import { findClient, findClients } from '../store/common/clients.ts';
import { findUser, listUsers, type User } from '../store/common/users.ts';
import { transaction } from '../store/database/database.ts';
import { lockForTransaction } from '../store/database/query.ts';
import { findResource } from '../store/operate/registered.ts';
import { readOrMake } from './postgres/readOrMake.ts';

/** The advisory lock for making the demo: of servers that start together, only one makes it. */
const DEMO_LOCK = 7_274_827;
const callerOf = (db: pg.Pool) => ({ db, operator: { name: 'trial mode' } });
const NAME = 'Demo Shop';
/** Two, to try what the other sees; the second has no payment password. */
const FIRST = { login: 'demo', name: 'Dana Demo' };
const SECOND = { login: 'robin', name: 'Robin Demo' };

/** The content of `DATA_DIR/demo.json`, shown at each start. Of the passwords, later changes are not noticed here. */
type Registered = Readonly<Awaited<ReturnType<typeof register>>>;

/** Trial mode's demo application, its users, and the payment API that it simulates. */
export type Demo = NonNullable<Awaited<ReturnType<typeof prepareDemo>>>;

/** Registers the demo, and at each start its redirect URI, whose port may change. Null for a database with other data only. */
export function prepareDemo(
  pool: pg.Pool,
  dataDir: string,
  server: string,
  redirectUri: string,
  hasPasswords: boolean,
) {
  const file = join(dataDir, 'demo.json');
  return transaction(pool, async (db) => {
    await lockForTransaction(db, DEMO_LOCK);
    if (!(await isRegistered(pool, read(file)))) {
      if (!(await isFree(pool))) return null;
      write(file, await register(pool, redirectUri));
    }
    const { application, users, resource } = read(file) as Registered;
    await perform(clients.update, callerOf(pool), { clientId: application.clientId, redirectUri });
    return {
      application: { server, ...application, redirectUri },
      users: hasPasswords ? users : [], // where a provider signs users in, ours can't
      resource: { server, ...resource },
    } as const;
  });
}

async function isRegistered(pool: pg.Pool, kept: Registered | null): Promise<boolean> {
  if (kept === null) return false;
  if ((await findClient(pool, kept.application.clientId)) === null) return false;
  return (await findResource(pool, kept.resource)) !== null;
}

/** True for an empty database, and for the rest of a start that failed before it wrote `demo.json`. */
async function isFree(pool: pg.Pool): Promise<boolean> {
  const users: readonly User[] = (await listUsers(pool, { limit: 3 }).next()).value; // three users can't all be the demo's
  const isOurs = users.every(({ login }) => [FIRST.login, SECOND.login].includes(login));
  return isOurs && (await findClients(pool)).every(({ name }) => name === NAME);
}

async function register(pool: pg.Pool, redirectUri: string) {
  const users = [await registerAccount(pool, FIRST, easyToType()), await registerAccount(pool, SECOND, null)];
  const client = { name: NAME, redirectUri, verified: true };
  const { clientId, clientSecret = '' } = await perform(clients.create, callerOf(pool), client);
  const resource = await perform(resources.create, callerOf(pool), { name: `${NAME}’s payment API` });
  return { application: { clientId, clientSecret }, users, resource };
}

async function registerAccount(pool: pg.Pool, user: typeof FIRST, paymentPassword: string | null) {
  const account = { login: user.login, password: easyToType(), paymentPassword };
  const given = { ...account, allowWeak: true };
  if ((await findUser(pool, user.login)) === null)
    await perform(users.create, callerOf(pool), { ...given, name: user.name });
  else await perform(users.setPassword, callerOf(pool), given);
  return { ...account, name: user.name };
}

/** Registers visitors' applications for an hour each, and deletes those of earlier starts. @param file keeps their ids */
export async function prepareRegistering(pool: pg.Pool, file: string) {
  const caller = { ...callerOf(pool), confirm: async () => {} };
  const registered = () => read<string[]>(file) ?? [];
  const remove = async (clientId: string) => {
    if ((await findClient(pool, clientId)) !== null) await perform(clients.remove, caller, { clientId });
    const others = registered().filter((id) => id !== clientId);
    write(file, others);
  };
  for (const clientId of registered()) await remove(clientId);
  return async (name: string, redirectUri: string) => {
    const asked = { name, redirectUri, verified: true, force: true };
    const { clientId, clientSecret = '' } = await perform(clients.create, caller, asked);
    write(file, [...registered(), clientId]);
    setTimeout(() => void remove(clientId).catch(() => {}), 3_600_000).unref();
    return { clientId, clientSecret };
  };
}

function write(file: string, content: object): void {
  rmSync(file, { force: true }); // from a deleted database
  readOrMake(file, () => JSON.stringify(content, null, 2));
}

/** @returns null if the file is missing */
function read<Content>(file: string): Content | null {
  if (!existsSync(file)) return null;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Content;
  } catch (cause) {
    throw new Error(`${file} is damaged: delete ${dirname(file)} to start again`, { cause });
  }
}

/** Three groups of four unambiguous letters. */
function easyToType(): string {
  const letters = Array.from(randomBytes(12), (byte) => 'abcdefghijkmnopqrstuvwxyz2345679'[byte % 32]);
  return letters.join('').replaceAll(/.{4}(?=.)/g, '$&-');
}
