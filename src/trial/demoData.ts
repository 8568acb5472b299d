import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type pg from 'pg';
import { sha256 } from '../secrets/digest.ts';
import { hashPassword, type Turn, verifyPassword } from '../secrets/password.ts';
import { randomHex } from '../secrets/random.ts';
import { findClients, insertClient, listClients, updateClient } from '../store/clients.ts';
import { transaction } from '../store/database.ts';
import { lockForTransaction } from '../store/query.ts';
import { insertSecret } from '../store/secrets.ts';
import { findUserByLogin, insertUser, listUsers } from '../store/users.ts';

/** Any number, the same for everybody: of servers that start together one makes the demo rows. */
const SEED_LOCK = 7_274_827;

/** The demo application and user of trial mode, kept in `DATA_DIR/demo.json` so that they can be shown again. */
export interface Demo {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly login: string;
  readonly password: string;
  readonly paymentPassword: string;
}

/** The secret that trial mode signs with: made once, kept in `DATA_DIR/secrets`. */
export function trialSecrets(dataDir: string): readonly [string] {
  const file = join(dataDir, 'secrets');
  const secret = readOrMake(file, () => randomHex(32));
  if (secret.length < 32) throw new Error(`${file} is damaged: delete it, and another is made`);
  return [secret];
}

/**
 * Makes the demo application and user on an empty database.
 *
 * @param redirectUri where the demo application is this time: the port may have changed since the last start
 * @returns null when the database is somebody's already and has no demo
 */
export async function prepareDemo(pool: pg.Pool, dataDir: string, redirectUri: string): Promise<Demo | null> {
  const file = join(dataDir, 'demo.json');
  const demo = readDemo(file);
  if ((await listClients(pool)).length === 0 && (await listUsers(pool)).length === 0) {
    await seed(pool, demo, redirectUri);
  }
  const found = await transaction(pool, (db) => updateClient(db, demo.clientId, { redirectUri }));
  if (found === null) return null;
  return withCurrentPasswords(pool, demo);
}

async function seed(pool: pg.Pool, demo: Demo, redirectUri: string): Promise<void> {
  const { clientId, clientSecret, login, ...passwords } = demo;
  const passwordHash = await hashPassword(passwords.password);
  const paymentPasswordHash = await hashPassword(passwords.paymentPassword);
  await transaction(pool, async (db) => {
    await lockForTransaction(db, SEED_LOCK);
    const [known] = await findClients(db, [clientId]);
    if (known) return; // another server was first
    await insertClient(db, {
      clientId,
      name: 'Demo Shop',
      redirectUri,
      verified: true,
      allowedRights: null,
      most: null,
    });
    await insertSecret(db, 'client', clientId, randomHex(4), sha256(clientSecret));
    await insertUser(db, { login, name: 'Dana Demo', passwordHash, paymentPasswordHash });
  });
}

const AT_LEISURE: Turn = { lane: 'known', share: 'demo', until: Number.POSITIVE_INFINITY };

/** What is printed must work: a password that was changed since is not shown. */
async function withCurrentPasswords(pool: pg.Pool, demo: Demo): Promise<Demo> {
  const user = await findUserByLogin(pool, demo.login);
  const current = async (stored: string | null | undefined, password: string) =>
    (await verifyPassword(stored ?? null, password, AT_LEISURE)) ? password : '(changed)';
  return {
    ...demo,
    password: await current(user?.passwordHash, demo.password),
    paymentPassword: await current(user?.paymentPasswordHash, demo.paymentPassword),
  };
}

function readDemo(file: string): Demo {
  const text = readOrMake(file, () => JSON.stringify(makeDemo(), null, 2));
  try {
    return JSON.parse(text) as Demo;
  } catch (cause) {
    throw new Error(`${file} is damaged: delete ${dirname(file)} to start anew`, { cause });
  }
}

function makeDemo(): Demo {
  return {
    clientId: randomHex(16),
    clientSecret: randomHex(32),
    login: 'demo',
    password: easyToType(),
    paymentPassword: easyToType(),
  };
}

/** Three groups of four letters that can't be mistaken for each other. */
function easyToType(): string {
  const letters = [...randomBytes(12)].map((byte) => 'abcdefghijkmnopqrstuvwxyz2345679'[byte % 32]);
  return [letters.slice(0, 4), letters.slice(4, 8), letters.slice(8)]
    .map((group) => group.join(''))
    .join('-');
}

/** Reads a file of ours, or makes it whole: of several that come first at once, one makes it and all read the same. */
function readOrMake(file: string, make: () => string): string {
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
  const mine = `${file}.${randomHex(4)}`;
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  try {
    writeFileSync(mine, make(), { mode: 0o600 });
    linkSync(mine, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(mine, { force: true });
  }
  return readFileSync(file, 'utf8');
}
