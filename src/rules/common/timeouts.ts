// How long one request may take, from the first wait to the last. Each limit leaves room for those before it, which
// test/rules/timeouts.test.ts holds them to. The times of idle connections and slow readers are in `http/`.

/** Waiting for a statement to take the request: a later answer is of no use. */
export const BATCH_WAIT_MS = 2_000;
/** Waiting for a lock. Locks are held for one or two statements and their commit; longer only by hand. */
export const LOCK_MS = 2_000;
/** A migration's wait for a lock: requests that queue behind it still have time for theirs. */
export const MIGRATION_LOCK_MS = 1_000;
/** One statement, as PostgreSQL counts it: far above what any takes that doesn't wait for a lock. */
export const STATEMENT_MS = 4_000;
/** A request is decided within this time of being read, or not at all: see `store/database/deadline.ts`. */
export const DECISION_MS = 4_500;
/** Opening a connection, and any other answer of a database: one that is frozen or cut off can't end a statement itself. */
export const DATABASE_MS = 5_000;
/** Each request is answered: after its decision there is room for one wait for a lock, and the commit. */
export const ANSWER_MS = 7_000;
/** The answer to a deciding statement: longer than its caller is kept waiting, because it may have been carried out. */
export const DECIDING_STATEMENT_MS = 7_500;

/** After a signal and `DRAIN_SECONDS`, unless they are 0: connections are taken while requests still come. */
export const STILL_ASKED_MS = 2_000;
/** After those: idle connections may bring the request that is on its way. */
export const IDLE_GRACE_MS = 500;
/** Then requests under way may finish. */
export const DRAIN_MS = ANSWER_MS;
/** Without `DRAIN_SECONDS` the process ends before a container's usual 10 seconds are over. */
export const END_MS = 9_000;

/** How long after a signal the process may still run. @param drainMs for how long it is to take connections */
export function endMs(drainMs: number): number {
  return drainMs === 0 ? END_MS : drainMs + STILL_ASKED_MS + END_MS;
}
