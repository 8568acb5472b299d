import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { type Database, transaction } from '../database/database.ts';
import { codeOf } from '../database/errors.ts';
import { executeLong, lockForTransaction, queryRow } from '../database/query.ts';
import { statement } from '../database/statement.ts';
import { prepareAuditPartition } from './auditPartitions.ts';

/** Key of the advisory lock that lets one process migrate at a time. */
const MIGRATION_LOCK = 7_274_825;

/** SQLSTATEs: of a role that lacks a privilege, and of a lock that wasn't free in time. */
const MAY_NOT = '42501';
const LOCK_NOT_FREE = '55P03';

const FOLDER = new URL('../../../migrations/', import.meta.url);

/** One file of `migrations/`: numbered, never changed once it is on main. */
export interface Migration {
  readonly version: number;
  readonly name: string;
}

/** A database that this build can't work on; the message says what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/** The migrations of this build, in order. */
export async function listMigrations(): Promise<Migration[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.sql')).sort();
  return files.map((name, index) => {
    const version = Number(name.slice(0, 4));
    if (version !== index + 1) throw new MigrationError(`migrations/${name} is not number ${index + 1}`);
    return { version, name };
  });
}

/** The version of the database's schema; 0 for an empty database. */
export async function schemaVersion(db: Database): Promise<number> {
  const { found } = await queryRow<{ found: boolean }>(db, SCHEMA_EXISTS());
  return found ? (await queryRow<{ version: number }>(db, SCHEMA_VERSION())).version : 0;
}

const SCHEMA_EXISTS = statement(
  'schema-exists',
  `select to_regclass('schema_migrations') is not null as found`,
);
const SCHEMA_VERSION = statement(
  'schema-version',
  'select coalesce(max(version), 0)::int as version from schema_migrations',
);

/**
 * Brings the database to this build's version, and the audit trail's partitions to this month. Each step is one
 * transaction; ten servers that start together do it once. A role that may only read and write rows finds that
 * nothing is left to do, or is told that the owner has to.
 *
 * @returns what was applied, in order
 * @throws {MigrationError} when the database is newer than this build, or older and not ours to change
 */
export async function migrate(pool: pg.Pool): Promise<Migration[]> {
  const migrations = await listMigrations();
  const applied: Migration[] = [];
  for (;;) {
    const migration = await alone(pool, (connection) => applyNext(connection, migrations));
    if (migration === undefined) break;
    applied.push(migration);
  }
  await preparePartitions(pool);
  return applied;
}

/**
 * Makes the partitions of the trail that there should be, if the tables are ours.
 *
 * @returns the names of those that were made, and whether somebody who reads the trail kept others from being made
 */
export async function preparePartitions(pool: pg.Pool): Promise<{ made: string[]; busy: boolean }> {
  const made: string[] = [];
  try {
    for (;;) {
      const name = await alone(pool, prepareAuditPartition);
      if (name === null) return { made, busy: false };
      made.push(name);
    }
  } catch (error) {
    if (codeOf(error) !== LOCK_NOT_FREE) throw error;
    return { made, busy: true };
  }
}

/**
 * Runs one step while no other process runs one. Lock and limits are the transaction's, so that they hold behind a pooler too
 * and are gone with it. An index on a large table, or waiting for another server's, takes longer than any request may.
 */
function alone<Result>(pool: pg.Pool, step: (connection: pg.PoolClient) => Promise<Result>): Promise<Result> {
  return transaction(pool, async (connection) => {
    await executeLong(connection, 'set local statement_timeout = 0; set local lock_timeout = 0');
    await lockForTransaction(connection, MIGRATION_LOCK);
    return step(connection);
  });
}

/** @returns what was applied, undefined when the schema is this build's */
async function applyNext(
  connection: pg.PoolClient,
  migrations: readonly Migration[],
): Promise<Migration | undefined> {
  await refuseEncoding(connection);
  const version = await schemaVersion(connection);
  if (version > migrations.length) {
    throw new MigrationError(
      `the database is at schema version ${version}, newer than this build's ${migrations.length}: run a newer build`,
    );
  }
  const next = migrations[version];
  if (next !== undefined) await apply(connection, next);
  return next;
}

/** Names and scopes are UTF-8 (contract section 4): another encoding would fail at the first letter it lacks. */
async function refuseEncoding(connection: pg.PoolClient): Promise<void> {
  const text = `select current_setting('server_encoding') as encoding`;
  const { encoding } = await queryRow<{ encoding: string }>(connection, { name: '', text });
  if (encoding === 'UTF8') return;
  throw new MigrationError(`the database's encoding is ${encoding}: create it with encoding UTF8`);
}

async function apply(connection: pg.PoolClient, { version, name }: Migration): Promise<void> {
  const text = await readFile(new URL(name, FOLDER), 'utf8');
  try {
    await connection.query(`create table if not exists schema_migrations (
      version integer primary key, name text not null, applied_at timestamptz not null default clock_timestamp())`);
    await executeLong(connection, text);
    await connection.query('insert into schema_migrations (version, name) values ($1, $2)', [version, name]);
  } catch (cause) {
    const { message, code } = cause as Error & { code?: string };
    const advice = code === MAY_NOT ? '; run "assent migrate" as the owner of the tables' : '';
    throw new MigrationError(`migrations/${name} failed and changed nothing: ${message}${advice}`, { cause });
  }
}
