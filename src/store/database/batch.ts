import type pg from 'pg';
import { Batcher, type RowOf } from './batcher.ts';
import { retryOnLostConnection } from './errors.ts';

/** Answers requests by one statement, in their order. It must be repeatable: it is asked again after a lost connection. */
type Ask<Request, Result> = (pool: pg.Pool, requests: readonly Request[]) => Promise<readonly Result[]>;

/** The names of all batches. */
export const BATCHES = new Set<string>();

/**
 * Makes a statement over arrays a function for one caller. Requests that arrive while statements are in flight share the
 * next one, and so one commit. Nothing is held back for that: a single request leaves at the end of the same turn.
 *
 * @param name of the batch: its statement's, where it has one
 * @returns rejects with {@link OverloadedError} when there is no hope of an answer in time
 */
export function batched<Request, Result>(
  name: string,
  ask: Ask<Request, Result>,
  rowOf: RowOf<Request> = () => null,
): (pool: pg.Pool, request: Request) => Promise<Result> {
  BATCHES.add(name);
  const batchers = new WeakMap<pg.Pool, Batcher<Request, Result>>();
  return (pool, request) => {
    let batcher = batchers.get(pool);
    if (batcher === undefined) {
      const again = (requests: readonly Request[]) => retryOnLostConnection(() => ask(pool, requests));
      batcher = new Batcher(name, again, rowOf);
      batchers.set(pool, batcher);
    }
    return batcher.send(request);
  };
}
