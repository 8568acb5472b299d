import { expect, it } from 'vitest';
import {
  ANSWER_MS,
  BATCH_QUEUE_TIMEOUT_MS,
  DATABASE_RESPONSE_TIMEOUT_MS,
  DECIDING_STATEMENT_MS,
  IDLE_GRACE_MS,
  IN_FLIGHT_GRACE_MS,
  LOCK_MS,
  MAX_SHUTDOWN_MS,
  MAX_STILL_ACCEPTING_MS,
  MIGRATION_LOCK_MS,
  maxShutdownMs,
  REQUEST_DEADLINE_MS,
  STATEMENT_MS,
} from '../../src/rules/common/timeouts.ts';

/** The time that `docker stop` and Kubernetes leave by default. */
const CONTAINER_STOP_MS = 10_000;

it('each time limit of a request leaves time for the limits within it', () => {
  expect(BATCH_QUEUE_TIMEOUT_MS, 'a lock may be waited for after the batch').toBeLessThanOrEqual(
    REQUEST_DEADLINE_MS - LOCK_MS,
  );
  expect(MIGRATION_LOCK_MS, 'a request may wait behind a migration that waits').toBeLessThan(LOCK_MS);
  expect(LOCK_MS, 'a lock is given up before its statement').toBeLessThan(STATEMENT_MS);
  expect(STATEMENT_MS, 'PostgreSQL ends a statement before we give it up').toBeLessThan(
    DATABASE_RESPONSE_TIMEOUT_MS,
  );
  expect(REQUEST_DEADLINE_MS + LOCK_MS, 'what was decided at the last moment is still answered').toBeLessThan(
    ANSWER_MS,
  );
  expect(ANSWER_MS, 'no caller is told "not done" of what we no longer wait for').toBeLessThan(
    DECIDING_STATEMENT_MS,
  );
});

it('the process drains and ends before a container is killed', () => {
  expect(IN_FLIGHT_GRACE_MS).toBeGreaterThanOrEqual(ANSWER_MS);
  expect(IDLE_GRACE_MS + IN_FLIGHT_GRACE_MS).toBeLessThan(MAX_SHUTDOWN_MS);
  expect(maxShutdownMs(0)).toBeLessThan(CONTAINER_STOP_MS);
  expect(5_000 + MAX_STILL_ACCEPTING_MS + IDLE_GRACE_MS + IN_FLIGHT_GRACE_MS).toBeLessThan(
    maxShutdownMs(5_000),
  );
});
