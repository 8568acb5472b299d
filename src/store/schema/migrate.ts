import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import { MIGRATION_LOCK_MS } from '../../rules/timeouts.ts';
import { transaction } from '../database/database.ts';
import { codeOf } from '../database/errors.ts';
import { executeLong, lockForTransaction, queryRow } from '../database/query.ts';
import { prepareAuditPartition } from './auditPartitions.ts';
import { FOLDER, listMigrations, type Migration, MigrationError, schemaState } from './schemaState.ts';

/** Key of the advisory lock that lets one process migrate at a time. */
const MIGRATION_LOCK = 7_274_825;

/** How often a step that waits for a lock in vain is tried: for about a minute and a half. */
const MAX_TRIES = 40;
/** Between two tries, in which those that queued behind the last one have their turn; half of it at least. */
const PAUSE_MS = 2_000;

/** SQLSTATEs of a role that lacks a privilege, and of a lock that was not free in time. */
const MAY_NOT = '42501';
const NO_LOCK = '55P03';

/** What a migration that fails for this reason wants. */
const ADVICE: Readonly<Record<string, string>> = {
  [MAY_NOT]: '; run "assent migrate" as the owner of the tables',
  [NO_LOCK]: '; pg_blocking_pids() there says who holds the lock',
};

/** The first line of a migration: the schema version of the oldest build that can serve when it is applied. */
const SERVES = /^-- Serves builds from schema version (\d+) on\.\n/;

/**
 * Brings the database to this build's version, and the audit trail's partitions to this month. Each step is one
 * transaction; ten servers that start together do it once. A role that may only read and write rows finds that
 * nothing is left to do, or is told that the owner has to. A newer schema that serves this build is left as it is.
 *
 * @returns what was applied, in order
 * @throws {MigrationError} when the database is newer than this build and does not serve it, or older and not ours to change
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

/** The months of a newer schema are a newer build's to make. @returns the name of what was made, null for nothing */
async function preparePartition(connection: pg.PoolClient): Promise<string | null> {
  const { version, known } = await schemaState(connection);
  return version === known ? prepareAuditPartition(connection) : null;
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
      const name = await alone(pool, preparePartition, 1);
      if (name === null) return { made, busy: false };
      made.push(name);
    }
  } catch (error) {
    if (codeOf(error) !== NO_LOCK) throw error;
    return { made, busy: true };
  }
}

/**
 * Runs one step while no other process runs one. Lock and limits are the transaction's, so that they hold behind a pooler too
 * and are gone with it. An index on a large table takes longer than any request may. But everybody who wants a table queues
 * behind a step that waits for its lock: it gives up soon, lets them pass, and tries again.
 */
async function alone<Result>(
  pool: pg.Pool,
  step: (connection: pg.PoolClient) => Promise<Result>,
  maxTries = MAX_TRIES,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await transaction(pool, async (connection) => {
        await executeLong(connection, 'set local statement_timeout = 0; set local lock_timeout = 0');
        await lockForTransaction(connection, MIGRATION_LOCK);
        await connection.query(`set local lock_timeout = ${MIGRATION_LOCK_MS}`);
        return step(connection);
      });
    } catch (error) {
      const cause = error instanceof MigrationError ? error.cause : error;
      if (codeOf(cause) !== NO_LOCK || tries === maxTries) throw error;
      await setTimeout(PAUSE_MS * (0.5 + Math.random() / 2));
    }
  }
}

/** @returns what was applied, undefined when nothing is left to do */
async function applyNext(
  connection: pg.PoolClient,
  migrations: readonly Migration[],
): Promise<Migration | undefined> {
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
