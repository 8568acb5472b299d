import type pg from 'pg';
import { readDatabaseConfig } from '../config.ts';
import { openMigratedStore } from '../store/store.ts';

/** Runs a command on the database, beside a running server or without one, and leaves it as it was. */
export async function withStore<Result>(work: (db: pg.Pool) => Promise<Result>): Promise<Result> {
  const store = await openMigratedStore(readDatabaseConfig(), (line) => console.error(line));
  try {
    return await work(store.pool);
  } finally {
    await store.close();
  }
}
