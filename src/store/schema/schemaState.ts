import { readdir } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import { MIGRATION_LOCK_MS } from '../../rules/common/timeouts.ts';
import { type Database, transaction, type Work } from '../database/database.ts';
import { codeOf, LOCK_NOT_AVAILABLE } from '../database/errors.ts';
import { executeLong, findExactlyOne, lockForTransaction, send } from '../database/query.ts';

export const FOLDER = new URL('../../../migrations/', import.meta.url);

/** A file of `migrations/`: numbered, never changed once on main. */
export type Migration = Awaited<ReturnType<typeof listMigrations>>[number];

/** A database unusable for this build; the message has the remedy. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

export async function listMigrations() {
  const files = (await readdir(FOLDER)).filter((file) => /^\d+_.*\.sql$/.test(file)).sort();
  return files.map((name, index) => {
    const version = Number(name.slice(0, 4));
    if (version !== index + 1) throw new MigrationError(`migrations/${name} is not number ${index + 1}`);
    return { version, name };
  });
}

/** By a column, because other programs have tables of this name. */
const findSchema = findExactlyOne<void, { found: boolean }>('schema-exists')`
  select exists (select from pg_attribute
                  where attrelid = to_regclass('schema_migrations') and attname = 'applied_at') as found`;
/** `oldest`: the oldest build that later migrations than `known` allow; null without any. */
const findVersion = findExactlyOne<{ known: number }, { version: number; oldest: number | null }>(
  'schema-version',
)`
  select coalesce(max(version), 0)::int as version,
         max(coalesce(oldest_build, version)) filter (where version > @known) as oldest from schema_migrations`;

/**
 * `version`: 0 without tables of ours. `known`: this build's version. It `serves` an older schema after a migration, a newer one
 * if all later migrations say so. `text` says this in words, and `remedy` what to do if the versions differ.
 */
export async function schemaState(db: Database) {
  const { length: known } = await listMigrations();
  const { found } = await findSchema(db);
  const { version, oldest } = found ? await findVersion(db, { known }) : { version: 0, oldest: null };
  const state = (serves: boolean, text: string, remedy: string) => ({ version, known, serves, text, remedy });
  if (version === 0)
    return state(true, 'this database has no tables of Assent', 'check DATABASE_URL, or run assent migrate');
  const text = `schema version ${version}, this build's is ${known}`;
  if ((oldest ?? 0) <= known) return state(true, text, 'run assent migrate, or use the build of the servers');
  return state(false, `${text}; this build does not support the newer one`, 'run a newer build');
}

/** Key of the advisory lock that lets one process at a time change the schema. */
const MIGRATION_LOCK = 7_274_825;

/** With the pauses between them, about a minute and a half. */
const MAX_TRIES = 40;
/** Between two tries, for statements queued behind the last one; at least half of it. */
const PAUSE_MS = 2_000;

/** Runs one step at a time of all processes. Statements queue behind one that waits for a table: it lets them pass, and retries. */
export async function withMigrationLock<Result>(pool: pg.Pool, step: Work<Result>, maxTries = MAX_TRIES) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await transaction(pool, async (connection) => {
        await executeLong(connection, 'set local statement_timeout = 0; set local lock_timeout = 0');
        await lockForTransaction(connection, MIGRATION_LOCK);
        await send(connection, `set local lock_timeout = ${MIGRATION_LOCK_MS}`);
        return step(connection);
      });
    } catch (error) {
      const cause = error instanceof MigrationError ? error.cause : error;
      if (codeOf(cause) !== LOCK_NOT_AVAILABLE || tries === maxTries) throw error;
      await setTimeout(PAUSE_MS * (0.5 + Math.random() / 2));
    }
  }
}

/** Repeats a step {@link withMigrationLock} until it gives null, or until a lock isn't free (`busy`). @returns all results */
export async function untilDoneOrBusy<Done>(pool: pg.Pool, step: Work<Done | null>) {
  const done: Done[] = [];
  try {
    for (;;) {
      const result = await withMigrationLock(pool, step, 1);
      if (result === null) return { done, busy: false };
      done.push(result);
    }
  } catch (error) {
    if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error;
    return { done, busy: true };
  }
}
