import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, inject } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { TEMPLATE } from './globalSetup.ts';
import { ledger, refuse } from './ledger.ts';

/** A database of one's own, migrated and empty. */
export interface TestDatabase {
  readonly pool: pg.Pool;
  /** For a process that is given `DATABASE_URL`. */
  readonly url: string;
  /** @throws {Error} when a row tells a secret that the tests know; the database is gone all the same */
  drop(): Promise<void>;
}

/** Copies the template: a real PostgreSQL database in some tens of milliseconds. @param how another way to make it */
export async function createDatabase(how = `template ${TEMPLATE}`): Promise<TestDatabase> {
  const postgres = inject('postgres');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer(`create database ${name} ${how}`);
  const pool = openDatabase({ ...postgres, database: name }, () => {});
  const url = `postgres://${postgres.user}@localhost/${name}?host=${encodeURIComponent(postgres.host)}&port=${postgres.port}`;
  const drop = async () => {
    await pool.end();
    try {
      await refuseLeaks(name);
    } finally {
      await administer(`drop database ${name} with (force)`);
    }
  };
  return { pool, url, drop };
}

/** A database for all tests of a file. */
export function useDatabase(): TestDatabase {
  let database: TestDatabase | undefined;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(async () => {
    await database?.drop();
  });
  return new Proxy({} as TestDatabase, {
    get: (_target, property: keyof TestDatabase) => database?.[property],
  });
}

/** Searches every row, as a dump would have it, and what PostgreSQL logged. @throws {Error} */
async function refuseLeaks(database: string): Promise<void> {
  const findings = ledger.search(
    'the log of PostgreSQL',
    readFileSync(inject('postgresLog'), 'utf8').split('\n'),
  );
  await withClient(database, async (client) => {
    const tables = await client.query<{ name: string }>(TABLES);
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ row: string }>(`select to_json(t)::text as row from ${name} t`);
      const lines = rows.map(({ row }) => row);
      findings.push(...ledger.search(`the table ${name}`, lines));
    }
  });
  refuse(findings);
}

/** The rows of a partition are among those of its table. */
const TABLES = `
select c.oid::regclass::text as name from pg_class c
 where c.relkind in ('r', 'p', 'm') and not c.relispartition
   and c.relnamespace::regnamespace::text !~ '^(pg_|information_schema$)'`;

async function administer(statement: string): Promise<void> {
  await withClient('postgres', (client) => client.query(statement));
}

/** Without the time limits of the server: making and dropping databases waits for the disk. */
async function withClient(database: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ ...inject('postgres'), database });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
