import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { codeOf, LOCK_NOT_AVAILABLE } from '../database/errors.ts';
import { executeLong } from '../database/query.ts';
import { preparePartitions } from './auditPartitions.ts';
import { withMigrationLock } from './migrationLock.ts';
import { FOLDER, listMigrations, type Migration, MigrationError, schemaState } from './schemaState.ts';

/** By SQLSTATE; the first is that of a missing privilege. */
const ADVICE: Readonly<Record<string, string>> = {
  '42501': '; run "assent migrate" as the owner of the tables',
  [LOCK_NOT_AVAILABLE]: '; pg_blocking_pids() there says who holds the lock',
};

/** A migration's first line: the schema version of the oldest build that can serve after it. */
const SERVES = /^-- Serves builds from schema version (\d+) on\.\n/;

/**
 * Brings the database to this build's version and the audit trail's partitions to this month: one transaction a step, once for
 * all servers that start together. A newer schema that serves this build stays. @returns the applied migrations, in order
 * @throws {MigrationError} if the database is newer than this build and does not serve it, or older and not ours to change
 */
export async function migrate(pool: pg.Pool): Promise<Migration[]> {
  const migrations = await listMigrations();
  const applied: Migration[] = [];
  for (;;) {
    const migration = await withMigrationLock(pool, (connection) => applyNext(connection, migrations));
    if (migration === undefined) break;
    applied.push(migration);
  }
  await preparePartitions(pool);
  return applied;
}

/** @returns the applied migration, undefined if none is left */
async function applyNext(connection: pg.PoolClient, migrations: readonly Migration[]) {
  await refuseEncoding(connection);
  const { version, known, serves } = await schemaState(connection);
  if (!serves) {
    throw new MigrationError(
      `the database is at schema version ${version}, newer than this build's ${known}, and does not serve it: run a newer build`,
    );
  }
  const next = migrations[version];
  if (next !== undefined) await apply(connection, next);
  return next;
}

/** Names and scopes are UTF-8 (contract section 4): another encoding would fail at the first missing letter. */
async function refuseEncoding(connection: pg.PoolClient): Promise<void> {
  const { rows } = await connection.query<{ server_encoding: string }>('show server_encoding');
  const encoding = rows[0]?.server_encoding;
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
    const [, oldest] = SERVES.exec(text) ?? [];
    if (oldest !== undefined)
      await connection.query(
        `update schema_migrations set oldest_build = ${oldest} where version = ${version}`,
      );
  } catch (cause) {
    const { message } = cause as Error;
    const advice = ADVICE[codeOf(cause)] ?? '';
    throw new MigrationError(`migrations/${name} failed and changed nothing: ${message}${advice}`, { cause });
  }
}
