import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import type { DatabaseConfig } from '../config/config.ts';
import { openDatabase } from '../store/database/database.ts';
import { passesByWaiting } from '../store/database/errors.ts';
import { StartupGate } from '../store/database/gate.ts';
import { MigrationError } from '../store/schema/schemaState.ts';
import { migrateAndTell, type StoreLog } from './openStore.ts';

/** The pause between two attempts doubles from the first to the last value; each is random, from half of that up. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 4_000;

/**
 * Queues all statements of an unused pool until another pool has migrated its database; trial mode's owner already has.
 * @returns migrates it once it is reachable; throws errors that waiting doesn't solve
 */
export function queueUntilMigrated(queued: pg.Pool, { databaseUrl, databasePassword }: DatabaseConfig) {
  if (databaseUrl === null) return async () => {};
  const gate = new StartupGate(queued);
  return async (log: StoreLog) => {
    const pool = openDatabase(databaseUrl, databasePassword);
    try {
      for (let attempt = 0; !(await tryToMigrate(pool, gate, log)); attempt += 1) {
        // Random, so that many servers do not return all at once.
        const pause = Math.min(FIRST_PAUSE_MS * 2 ** attempt, MAX_PAUSE_MS);
        await setTimeout(pause * (0.5 + Math.random() / 2));
      }
    } finally {
      void pool.end();
    }
  };
}

/** @returns true when it is done and the gate open; false while the database is unreachable, which the watch reports */
async function tryToMigrate(pool: pg.Pool, gate: StartupGate, log: StoreLog): Promise<boolean> {
  try {
    await migrateAndTell(pool, log);
    gate.open();
    return true;
  } catch (error) {
    const cause = error instanceof MigrationError ? error.cause : error;
    if (!passesByWaiting(cause)) throw error;
    gate.close(cause);
    return false;
  }
}
