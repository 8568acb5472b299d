import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { ownsTables, prepareAuditPartitions } from './auditPartitions.ts';
import { withConnection } from './database.ts';

/** Any number, the same for everybody: only one process migrates at a time, the others wait for it. */
const MIGRATION_LOCK = 7_274_825;

/** SQLSTATE of a role that lacks a privilege. */
const MAY_NOT = '42501';
const LONGEST_MIGRATION_MS = 6 * 60 * 60 * 1000;

const FOLDER = new URL('../../migrations/', import.meta.url);

/** One file of `migrations/`: numbered, never changed once it is on main. */
export interface Migration {
  readonly version: number;
  readonly name: string;
}

/** A database that this build can't work on; the message says what to do. */
export class MigrationError extends Error {}

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
export async function schemaVersion(db: pg.Pool | pg.PoolClient): Promise<number> {
  const exists = await db.query<{ found: boolean }>(
    `select to_regclass('schema_migrations') is not null as found`,
  );
  if (exists.rows[0]?.found !== true) return 0;
  const { rows } = await db.query<{ version: number }>(
    'select coalesce(max(version), 0)::int as version from schema_migrations',
  );
  return rows[0]?.version ?? 0;
}

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
  // The connection is closed afterwards: that frees the lock and forgets the setting.
  return withConnection(pool, (connection) => migrateOn(connection, migrations), false);
}

async function migrateOn(connection: pg.PoolClient, migrations: readonly Migration[]): Promise<Migration[]> {
  await run(connection, 'set statement_timeout = 0');
  await run(connection, 'set lock_timeout = 0');
  await refuseEncoding(connection);
  await run(connection, `select pg_advisory_lock(${MIGRATION_LOCK})`);
  const version = await schemaVersion(connection);
  refuseNewer(version, migrations.length);
  const pending = migrations.slice(version);
  for (const migration of pending) await apply(connection, migration);
  if (await ownsTables(connection)) await prepareAuditPartitions(connection, (text) => run(connection, text));
  return pending;
}

/** An index on a large table, or waiting for another server's, takes longer than any request may. */
function run(connection: pg.PoolClient, text: string): Promise<pg.QueryResult> {
  return connection.query({ text, query_timeout: LONGEST_MIGRATION_MS } as pg.QueryConfig);
}

/** Names and scopes are UTF-8 (contract section 4): another encoding would fail at the first letter it lacks. */
async function refuseEncoding(connection: pg.PoolClient): Promise<void> {
  const { rows } = await connection.query<{ encoding: string }>(
    `select current_setting('server_encoding') as encoding`,
  );
  const encoding = rows[0]?.encoding;
  if (encoding === 'UTF8') return;
  throw new MigrationError(`the database's encoding is ${encoding}: create it with encoding UTF8`);
}

function refuseNewer(version: number, known: number): void {
  if (version <= known) return;
  throw new MigrationError(
    `the database is at schema version ${version}, newer than this build's ${known}: run a newer build`,
  );
}

async function apply(connection: pg.PoolClient, { version, name }: Migration): Promise<void> {
  const text = await readFile(new URL(name, FOLDER), 'utf8');
  try {
    await connection.query('begin');
    await connection.query(`create table if not exists schema_migrations (
      version integer primary key, name text not null, applied_at timestamptz not null default clock_timestamp())`);
    await run(connection, text);
    await connection.query('insert into schema_migrations (version, name) values ($1, $2)', [version, name]);
    await connection.query('commit');
  } catch (cause) {
    const { message, code } = cause as Error & { code?: string };
    const advice = code === MAY_NOT ? '; run "assent migrate" as the owner of the tables' : '';
    throw new MigrationError(`migrations/${name} failed and changed nothing: ${message}${advice}`, { cause });
  }
}
