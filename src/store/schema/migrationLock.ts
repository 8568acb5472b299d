import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import { MIGRATION_LOCK_MS } from '../../rules/common/timeouts.ts';
import { transaction } from '../database/database.ts';
import { codeOf, LOCK_NOT_AVAILABLE } from '../database/errors.ts';
import { executeLong, lockForTransaction } from '../database/query.ts';
import { MigrationError } from './schemaState.ts';

/** Key of the advisory lock that lets one process at a time change the schema. */
const MIGRATION_LOCK = 7_274_825;

/** With the pauses between them, about a minute and a half. */
const MAX_TRIES = 40;
/** Between two tries, for statements queued behind the last one; at least half of it. */
const PAUSE_MS = 2_000;

type Step<Result> = (connection: pg.PoolClient) => Promise<Result>;

/** Runs one step at a time of all processes. Statements queue behind one that waits for a table: it lets them pass, and retries. */
export async function withMigrationLock<Result>(
  pool: pg.Pool,
  step: Step<Result>,
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
      if (codeOf(cause) !== LOCK_NOT_AVAILABLE || tries === maxTries) throw error;
      await setTimeout(PAUSE_MS * (0.5 + Math.random() / 2));
    }
  }
}

/** Repeats a step {@link withMigrationLock} until it gives null, or until a lock isn't free (`busy`). @returns all results */
export async function untilDoneOrBusy<Done>(pool: pg.Pool, step: Step<Done | null>) {
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
