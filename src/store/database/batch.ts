import type pg from 'pg';
import { Batcher, type RowOf } from './batcher.ts';
import { retryOnLostConnection } from './errors.ts';

/** Answers requests by one statement, in their order. It must be repeatable: it is asked again after a lost connection. */
type Ask<Request, Result, Where> = (where: Where, requests: readonly Request[]) => Promise<readonly Result[]>;

/** The names of all batches. */
export const BATCHES = new Set<string>();

/**
 * Makes a statement over arrays a function for one caller. Requests that arrive while statements are in flight share the
 * next one, and so one commit. Nothing is held back for that: a single request leaves at the end of the same turn. Each
 * `where`, a pool or a standby, has batches of its own.
 *
 * @param name of the batch: its statement's, where it has one
 * @returns rejects with {@link OverloadedError} when there is no hope of an answer in time
 */
export function batched<Request, Result, Where extends object = pg.Pool>(
  name: string,
  ask: Ask<Request, Result, Where>,
  rowOf: RowOf<Request> = () => null,
): (where: Where, request: Request) => Promise<Result> {
  BATCHES.add(name);
  const batchers = new WeakMap<Where, Batcher<Request, Result>>();
  return (where, request) => {
    let batcher = batchers.get(where);
    if (batcher === undefined) {
      const again = (requests: readonly Request[]) => retryOnLostConnection(() => ask(where, requests));
      batcher = new Batcher(name, again, rowOf);
      batchers.set(where, batcher);
    }
    return batcher.send(request);
  };
}
