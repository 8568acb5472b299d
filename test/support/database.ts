import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, inject } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { TEMPLATE } from './globalSetup.ts';

/** A database of one's own, migrated and empty. */
export interface TestDatabase {
  readonly pool: pg.Pool;
  /** For a process that is given `DATABASE_URL`. */
  readonly url: string;
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
    await administer(`drop database ${name} with (force)`);
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

/** Without the time limits of the server: making and dropping databases waits for the disk. */
async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ ...inject('postgres'), database: 'postgres' });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
