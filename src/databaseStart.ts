import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import { migrateAndTell, type Store, type StoreLog } from './openStore.ts';
import { passesByWaiting } from './store/database/errors.ts';
import { type Gate, putGate } from './store/database/gate.ts';
import { MigrationError } from './store/schema/schemaState.ts';

/** Between two attempts: the first pause, doubled each time up to the last; each between half and all of that. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 4_000;

/**
 * Holds back all statements of a store, until it is migrated. Call it before anything uses the store.
 *
 * @returns migrates it as soon as it is there; throws what does not pass by waiting
 */
export function holdBack(store: Store): (log: StoreLog) => Promise<void> {
  const gate = putGate(store.pool);
  return async (log) => {
    const pool = store.openAnother();
    try {
      await migrateWhenThere(pool, gate, log);
    } finally {
      void pool.end();
    }
  };
}

async function migrateWhenThere(pool: pg.Pool, gate: Gate, log: StoreLog): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await migrateAndTell(pool, log);
      gate.open();
      return;
    } catch (error) {
      const cause = error instanceof MigrationError ? error.cause : error;
      if (!passesByWaiting(cause)) throw error;
      gate.close(cause); // the watch over the database reports it
      await setTimeout(pauseAfter(attempt));
    }
  }
}

/** Random, so that many servers do not come back all at once. */
function pauseAfter(attempt: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** attempt, MAX_PAUSE_MS) * (0.5 + Math.random() / 2);
}
