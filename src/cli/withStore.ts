import type pg from 'pg';
import { readDatabaseConfig, readOperator } from '../config.ts';
import { openMigratedStore, type StoreLog } from '../openStore.ts';
import { say } from './output.ts';

/** Messages about the database; results go to standard output. */
export const toStandardError: StoreLog = { info: say, warn: say };

/** Opens the database for a command, with or without a running server, and closes it again. */
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
