import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type pg from 'pg';
import { changeClient, registerClient } from '../flows/operators/clients.ts';
import { registerUser, setPasswords } from '../flows/operators/users.ts';
import { listClients } from '../store/clients.ts';
import { transaction } from '../store/database/database.ts';
import { lockForTransaction } from '../store/database/query.ts';
import { listUsers } from '../store/users.ts';
import { readOrMake } from './readOrMake.ts';

/** The advisory lock under which the demo is made: of servers that start together one makes it. Any number will do. */
const DEMO_LOCK = 7_274_827;
const OPERATOR = 'trial mode';
const NAME = 'Demo Shop';
const LOGIN = 'demo';

/** The demo application and user of trial mode, kept in `DATA_DIR/demo.json` so that they can be shown again. */
export interface Demo {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly login: string;
  /** The passwords as they were made; changing them is not noticed here. */
  readonly password: string;
  readonly paymentPassword: string;
}

/**
 * Registers the demo application and user, unless the database has others.
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
  const demo = readDemo(file);
  const found = await changeClient(pool, demo.clientId, { redirectUri }, OPERATOR);
  return found === null ? null : demo;
}

/** Whether the database is empty or, without `demo.json`, has only what a start left that was broken off before writing it. */
async function isFree(pool: pg.Pool, hasFile: boolean): Promise<boolean> {
  const [clients, users] = await Promise.all([listClients(pool), listUsers(pool)]);
  if (clients.length + users.length === 0) return true;
  return (
    !hasFile && clients.every(({ name }) => name === NAME) && users.every(({ login }) => login === LOGIN)
  );
}

async function register(pool: pg.Pool, redirectUri: string): Promise<Demo> {
  const passwords = { password: easyToType(), paymentPassword: easyToType() };
  if ((await setPasswords(pool, LOGIN, passwords, OPERATOR)) === null) {
    await registerUser(pool, { login: LOGIN, name: 'Dana Demo', ...passwords }, OPERATOR);
  }
  const client = { name: NAME, redirectUri, verified: true, allowedRights: null, most: null };
  const { clientId, clientSecret } = await registerClient(pool, client, OPERATOR);
  return { clientId, clientSecret: clientSecret ?? '', login: LOGIN, ...passwords };
}

function readDemo(file: string): Demo {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Demo;
  } catch (cause) {
    throw new Error(`${file} is damaged: delete ${dirname(file)} to start anew`, { cause });
  }
}

/** Three groups of four letters that can't be mistaken for each other. */
function easyToType(): string {
  const letters = Array.from(randomBytes(12), (byte) => 'abcdefghijkmnopqrstuvwxyz2345679'[byte % 32]);
  return letters.join('').replaceAll(/.{4}(?=.)/g, '$&-');
}
