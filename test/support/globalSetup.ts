import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { openDatabase } from '../../src/store/database/database.ts';
import { migrate } from '../../src/store/schema/migrate.ts';
import { givenPostgres, makeRole, urlOf, withClient } from './postgres/postgres.ts';
import { type LogPlace, logSince, logSizes } from './postgres/postgresLog.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The URL of PostgreSQL for its superuser. */
    postgres: string;
    /** How the names of all databases and roles of this run begin. */
    run: string;
    postgresLog: LogPlace;
  }
}

const KEEPER = fileURLToPath(new URL('postgres/keeper.mjs', import.meta.url));

/** One real PostgreSQL for the whole run: the one that `TEST_DATABASE_URL` names, or one of our own. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const run = `assent_test_${Math.floor(Date.now() / 1000)}_${randomBytes(3).toString('hex')}`;
  const given = givenPostgres();
  if (given !== null)
    await withClient(given, async () => {}).catch((cause: Error) => {
      throw new Error(`TEST_DATABASE_URL must be for a superuser: ${cause.message}`, { cause });
    });
  const { url, logFile, end } = await startKeeper(run, given);
  try {
    await makeTemplate(url, `${run}_template`);
    provide('postgres', url);
    provide('run', run);
    provide('postgresLog', given === null ? { file: logFile } : await examine(url, run));
    return end;
  } catch (error) {
    await end().catch(console.error);
    throw error;
  }
}

/** Starts the process that cleans up after the run. A Ctrl-C in the terminal does not reach it. */
async function startKeeper(run: string, given: string | null) {
  const env = { ...process.env, ...(given === null ? {} : { TEST_DATABASE_URL: given }) };
  const keeper = spawn(process.execPath, [KEEPER, run], {
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(keeper, 'exit');
  const line = once(createInterface(keeper.stdout), 'line');
  await Promise.race([line, ended]);
  if (keeper.exitCode !== null) throw new Error('there is no PostgreSQL for the tests, see above');
  const { url, logFile } = JSON.parse(String(await line)) as { url: string; logFile: string };
  const end = async () => {
    keeper.stdin.end();
    const [code] = await ended;
    if (code !== 0) throw new Error('the run could not be cleaned up after, see above');
  };
  return { url, logFile, end };
}

/** Makes the database that every test file copies: migrated once, empty. */
async function makeTemplate(postgres: string, name: string): Promise<void> {
  await withClient(postgres, async (client) => {
    const { rows } = await client.query<{ encoding: string }>(
      `select pg_encoding_to_char(encoding) as encoding from pg_database where datname = 'template0'`,
    );
    // In the language of the server, if that can write every letter.
    const locale = rows[0]?.encoding === 'UTF8' ? '' : `encoding 'UTF8' locale 'C'`;
    const memory = await client.query(`select from pg_tablespace where spcname = 'memory'`);
    const place = memory.rowCount === 1 ? 'tablespace memory' : ''; // of the copies, too
    await client.query(`create database ${name} template template0 ${locale} ${place}`);
  });
  const pool = openDatabase(urlOf(postgres, { database: name }));
  await migrate(pool);
  await pool.end();
  // A database with connections can't be copied.
  await withClient(postgres, (client) => client.query(`alter database ${name} allow_connections false`));
}

/** Prints the server's version, and what can't be checked there. @throws {Error} when the tests can't run on it */
async function examine(postgres: string, run: string): Promise<LogPlace> {
  await requirePasswords(postgres, `${run}_login`);
  return withClient(postgres, async (client) => {
    const { rows } = await client.query('show server_version');
    console.log(`The tests run on PostgreSQL ${rows[0].server_version}, at ${new URL(postgres).host}.`);
    try {
      await logSince(client, 'through SQL', await logSizes(client, 'through SQL'));
      return 'through SQL';
    } catch (error) {
      console.log(`Not checked: secrets in its log, which can't be read (${(error as Error).message}).`);
      return 'nowhere';
    }
  });
}

/** @throws {Error} when roles that the tests make can't connect */
async function requirePasswords(postgres: string, user: string): Promise<void> {
  const password = randomBytes(12).toString('hex');
  await makeRole(postgres, user, password, '');
  const client = new pg.Client(urlOf(postgres, { user, password }));
  await client.connect().catch((cause: Error) => {
    throw new Error(`the tests need a pg_hba.conf that lets new roles in with a password: ${cause.message}`);
  });
  await client.end();
}
