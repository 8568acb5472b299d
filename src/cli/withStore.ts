import type pg from 'pg';
import { readDatabaseConfig } from '../config.ts';
import { openMigratedStore, type StoreLog } from '../store/store.ts';

/** What happens to the database is a message, not a result. */
export const toStandardError: StoreLog = { info: console.error, warn: console.error };

/** Runs a command on the database, beside a running server or without one, and leaves it as it was. */
export async function withStore<Result>(work: (db: pg.Pool) => Promise<Result>): Promise<Result> {
  const store = await openMigratedStore(readDatabaseConfig(), toStandardError);
  try {
    return await work(store.pool);
  } finally {
    await store.close();
  }
}
