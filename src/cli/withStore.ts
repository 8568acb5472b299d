import type pg from 'pg';
import { readDatabaseConfig, readOperator } from '../config.ts';
import { openMigratedStore, type StoreLog } from '../openStore.ts';
import { say } from './output.ts';

/** What happens to the database is a message, not a result. */
export const toStandardError: StoreLog = { info: say, warn: say };

/** Runs a command on the database, beside a running server or without one, and leaves it as it was. */
export async function withStore<Result>(
  work: (db: pg.Pool, operator: string) => Promise<Result>,
): Promise<Result> {
  const operator = readOperator();
  const store = await openMigratedStore(readDatabaseConfig(), toStandardError);
  try {
    return await work(store.pool, operator);
  } finally {
    await store.close();
  }
}
