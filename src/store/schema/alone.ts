import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import { MIGRATION_LOCK_MS } from '../../rules/timeouts.ts';
import { transaction } from '../database/database.ts';
import { codeOf, LOCK_NOT_AVAILABLE } from '../database/errors.ts';
import { executeLong, lockForTransaction } from '../database/query.ts';
import { MigrationError } from './schemaState.ts';

/** Key of the advisory lock that lets one process change the schema at a time. */
const MIGRATION_LOCK = 7_274_825;

/** How often a step that waits for a lock in vain is tried: for about a minute and a half. */
const MAX_TRIES = 40;
/** Between two tries, in which those that queued behind the last one have their turn; half of it at least. */
const PAUSE_MS = 2_000;

type Step<Result> = (connection: pg.PoolClient) => Promise<Result>;

/**
 * Runs one step while no other process runs one. Lock and limits are the transaction's, so that they hold behind a pooler too
 * and are gone with it. An index on a large table takes longer than any request may. But everybody who wants a table queues
 * behind a step that waits for its lock: it gives up soon, lets them pass, and tries again.
 */
export async function alone<Result>(
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

/**
 * Repeats a step, each time {@link alone}, until nothing is left to do or a lock isn't free.
 *
 * @param step gives null when there is nothing to do
 * @returns what was done, and whether somebody else's lock kept the rest from being done
 */
export async function untilDoneOrBusy<Done>(
  pool: pg.Pool,
  step: Step<Done | null>,
): Promise<{ done: Done[]; busy: boolean }> {
  const done: Done[] = [];
  try {
    for (;;) {
      const result = await alone(pool, step, 1);
      if (result === null) return { done, busy: false };
      done.push(result);
    }
  } catch (error) {
    if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error;
    return { done, busy: true };
  }
}
