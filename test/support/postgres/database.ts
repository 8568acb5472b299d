import { randomBytes } from 'node:crypto';
import { afterAll, inject, onTestFinished } from 'vitest';
import { openDatabase } from '../../../src/store/database/database.ts';
import { ledger, refuse } from '../ledger.ts';
import { makeRole, urlOf, withClient } from './postgres.ts';
import { type LogSizes, logSince, logSizes } from './postgresLog.ts';

export type TestDatabase = Awaited<ReturnType<typeof createDatabase>>;

/** Copies the template: a real PostgreSQL database in some tens of milliseconds. @param how another way to make it */
export async function createDatabase(how = `template ${inject('run')}_template`) {
  const database = ownName();
  const url = urlOf(inject('postgres'), { database });
  const log = await withClient(inject('postgres'), async (client) => {
    await client.query(`create database ${database} ${how}`);
    return logSizes(client, inject('postgresLog'));
  });
  const pool = openDatabase(url);
  /** @throws {Error} when a row tells a secret that the tests know; the database is gone all the same */
  const drop = async () => {
    await pool.end();
    try {
      await refuseLeaks(url, log);
    } finally {
      await withClient(inject('postgres'), (client) =>
        client.query(`drop database ${database} with (force)`),
      );
    }
  };
  return { pool, url, drop };
}

/** Makes a role that needs its password, until the end of the run. @param attributes for example `createrole` */
export async function createRole(attributes = '', password = randomBytes(12).toString('hex')) {
  const name = ownName();
  await makeRole(inject('postgres'), name, password, attributes);
  return { name, password, urlOf: ({ url }: TestDatabase) => urlOf(url, { user: name, password }) };
}

/** A name by which the keeper knows what to drop. */
export function ownName(): string {
  return `${inject('run')}_${randomBytes(6).toString('hex')}`;
}

/** @param how as of {@link createDatabase} */
export async function useDatabase(how?: string): Promise<TestDatabase> {
  const database = await createDatabase(how);
  afterAll(() => database.drop());
  return database;
}

export async function ownDatabase(how?: string): Promise<TestDatabase> {
  const database = await createDatabase(how);
  onTestFinished(() => database.drop());
  return database;
}

export function ownPool(...[address]: Parameters<typeof openDatabase>) {
  const pool = openDatabase(address);
  onTestFinished(() => pool.end());
  return pool;
}

/** Searches every row, as a dump would have it, and what PostgreSQL logged since. @throws {Error} */
async function refuseLeaks(url: string, since: LogSizes): Promise<void> {
  const findings = await withClient(url, async (client) => {
    const log = await logSince(client, inject('postgresLog'), since);
    const found = ledger.search('the log of PostgreSQL', log.split('\n'));
    const tables = await client.query<{ name: string }>(TABLES);
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ row: string }>(`select to_json(t)::text as row from ${name} t`);
      const lines = rows.map(({ row }) => row);
      found.push(...ledger.search(`the table ${name}`, lines));
    }
    return found;
  });
  refuse(findings);
}

/** The rows of a partition are among those of its table. */
const TABLES = `
select c.oid::regclass::text as name from pg_class c
 where c.relkind in ('r', 'p', 'm') and not c.relispartition
   and c.relnamespace::regnamespace::text !~ '^(pg_|information_schema$)'`;
