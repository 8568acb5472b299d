import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { withConnection } from './database.ts';
import { findExactlyOne } from './query.ts';

const tryLock = findExactlyOne<{ lock: number }, { locked: boolean }>('session-lock-try')`
  select pg_try_advisory_lock(@lock::bigint) as locked`;

const RETRY_MS = 1_000;

/**
 * Runs `work` in one process at a time: another one waits, and calls `waiting`. The lock ends with its connection, and `lost` is
 * called then, so a pooler must be in session mode.
 */
export function withSessionLock(
  pool: pg.Pool,
  lock: number,
  signal: AbortSignal,
  { waiting, lost }: { waiting(): void; lost(): void },
  work: () => Promise<void>,
): Promise<void> {
  return withConnection(pool, async (connection) => {
    const isLocked = async () => (await tryLock(connection, { lock })).locked;
    for (let tries = 0; !signal.aborted && !(await isLocked()); tries += 1) {
      if (tries === 0) waiting();
      await wait(RETRY_MS, undefined, { signal }).catch(() => {});
    }
    if (signal.aborted) return;
    connection.once('end', lost);
    await work().finally(() => connection.off('end', lost));
  });
}
