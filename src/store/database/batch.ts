import type pg from 'pg';
import { Batcher } from './batcher.ts';
import { isConnectionLost } from './errors.ts';
import { findEach } from './query.ts';
import type { Columns, Sql } from './statement.ts';

export const BATCHES = new Set<string>();

/**
 * Turns a statement over arrays into a function for one caller. Requests that arrive while statements are in flight share the
 * next one, and so one commit; a single request leaves at the end of the same turn. Each pool has its own batches.
 * @param runBatch returns results in request order, an error for one that fails alone; it must be repeatable, as it runs again after a
 * lost connection, when the first may have been carried out
 * @param rowOf the row that a request changes: two about one row are never in flight together
 * @returns rejects with {@link OverloadedError} if the response would be too late
 */
export function batched<Request, Result>(
  name: string,
  runBatch: (pool: pg.Pool, requests: readonly Request[]) => Promise<readonly (Result | Error)[]>,
  rowOf: (request: Request) => string | null = () => null,
): (pool: pg.Pool, request: Request) => Promise<Result> {
  BATCHES.add(name);
  const batchers = new WeakMap<pg.Pool, Batcher<Request, Result>>();
  return (pool, request) => {
    let batcher = batchers.get(pool);
    if (batcher === undefined) {
      const run = (requests: readonly Request[]) =>
        runBatch(pool, requests).catch((error: unknown) => {
          // After a timeout it would take as long again.
          if (isConnectionLost(error)) return runBatch(pool, requests);
          throw error;
        });
      batcher = new Batcher({ name, rowOf, run });
      batchers.set(pool, batcher);
    }
    return batcher.send(request);
  };
}

/** Turns a {@link batchStatement} that only reads into a function for one caller, see {@link batched}: its row, null for none. */
export function findBatched<Request, Row extends object>(name: string, columns: Columns<Request>) {
  return (...sql: Sql) => batched(name, findEach<Request, Row>(name, columns)(...sql));
}
