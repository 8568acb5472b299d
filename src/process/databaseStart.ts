import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import type { DatabaseConfig } from '../config/config.ts';
import { type Gate, gateOf, openDatabase } from '../store/database/database.ts';
import { passesByWaiting } from '../store/database/errors.ts';
import { MigrationError } from '../store/schema/schemaState.ts';
import { migrateAndTell, type StoreLog } from './openStore.ts';

/** The mean pause between two attempts. */
const PAUSE_MS = 1_000;

/**
 * Queues all statements of unused pools until another pool has migrated its database; trial mode's owner already has.
 * @returns migrates it once it is reachable; throws errors that waiting doesn't solve
 */
export function queueUntilMigrated(
  queued: readonly pg.Pool[],
  { databaseUrl, databasePassword }: DatabaseConfig,
) {
  if (databaseUrl === null) return async () => {};
  let noteTried = () => {};
  const tried = new Promise<void>((resolve) => {
    noteTried = resolve;
  });
  const gate: Gate = { tried };
  for (const pool of queued) gateOf.set(pool, gate);
  const open = () => {
    for (const pool of queued) gateOf.delete(pool);
  };
  return async (log: StoreLog) => {
    const pool = openDatabase(databaseUrl, databasePassword);
    try {
      for (;;) {
        try {
          await migrateAndTell(pool, log);
          open();
          return;
        } catch (error) {
          gate.cause = error instanceof MigrationError ? error.cause : error;
          if (!passesByWaiting(gate.cause)) throw error;
        } finally {
          noteTried();
        }
        // Random, so that many servers do not return all at once. Meanwhile the watch reports the database.
        await setTimeout(PAUSE_MS * (0.5 + Math.random()));
      }
    } finally {
      void pool.end();
    }
  };
}
