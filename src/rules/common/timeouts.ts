// Time limits of one request, from the first wait to the last. Each limit leaves room for those before it, as
// test/rules/timeouts.test.ts checks. The times of idle connections and slow readers are in `listener/`.

/** Waiting for a statement to take the request: a later answer is useless. */
export const BATCH_QUEUE_TIMEOUT_MS = 2_000;
/** Waiting for a lock. Locks are held for one or two statements and their commit; longer only by hand. */
export const LOCK_MS = 2_000;
/** A migration's wait for a lock: requests that queue behind it still have time for theirs. */
export const MIGRATION_LOCK_MS = 1_000;
/** One statement, by PostgreSQL's clock: far above any that doesn't wait for a lock. */
export const STATEMENT_MS = 4_000;
/** A request is decided within this time of being read, or not at all: see `store/database/deadline.ts`. */
export const REQUEST_DEADLINE_MS = 4_500;
/** Opening a connection, and other responses of a database: a frozen or unreachable one can't end a statement itself. */
export const DATABASE_RESPONSE_TIMEOUT_MS = 5_000;
/** Each request is answered: the decision may be followed by one wait for a lock, and the commit. */
export const ANSWER_MS = 7_000;
/** The response to a deciding statement: longer than its caller waits, because it may have been carried out. */
export const DECIDING_STATEMENT_MS = 7_500;

/** After a signal and `DRAIN_SECONDS`, unless 0: connections are accepted while requests still arrive. */
export const MAX_STILL_ACCEPTING_MS = 2_000;
/** After those: idle connections may bring a request in transit. */
export const IDLE_GRACE_MS = 500;
/** Then requests in progress may finish. */
export const IN_FLIGHT_GRACE_MS = ANSWER_MS;
/** Without `DRAIN_SECONDS` the process ends within a container's usual 10 seconds. */
export const MAX_SHUTDOWN_MS = 9_000;

/** The process's longest runtime after a signal. @param drainMs time for accepting connections */
export function maxShutdownMs(drainMs: number): number {
  return drainMs === 0 ? MAX_SHUTDOWN_MS : drainMs + MAX_STILL_ACCEPTING_MS + MAX_SHUTDOWN_MS;
}
