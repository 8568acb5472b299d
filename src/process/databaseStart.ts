import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import type { DatabaseConfig } from '../config/config.ts';
import { openDatabase } from '../store/database/database.ts';
import { passesByWaiting } from '../store/database/errors.ts';
import { type Gate, gateOf } from '../store/database/gate.ts';
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
  let noteTried = () => {};
  const tried = new Promise<void>((resolve) => {
    noteTried = resolve;
  });
  const gate: Gate = { tried };
  gateOf.set(queued, gate);
  return async (log: StoreLog) => {
    const pool = openDatabase(databaseUrl, databasePassword);
    try {
      for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
        try {
          await migrateAndTell(pool, log);
          gateOf.delete(queued);
          return;
        } catch (error) {
          gate.cause = error instanceof MigrationError ? error.cause : error;
          if (!passesByWaiting(gate.cause)) throw error;
        } finally {
          noteTried();
        }
        // Random, so that many servers do not return all at once. Meanwhile the watch reports the database.
        await setTimeout(pause * (0.5 + Math.random() / 2));
      }
    } finally {
      void pool.end();
    }
  };
}
