import type pg from 'pg';
import { askTwice, isOneCallersFault } from './errors.ts';

/** Requests that one statement answers, at most. */
const MAX_BATCH = 128;
/** One statement can wait for its commit while the next is prepared; more of them only wait for each other. */
const MAX_IN_FLIGHT = 2;
/** Beyond these a caller is told to come back later: an answer that late helps nobody. */
const MAX_WAITING = 2_000;
const MAX_WAIT_MS = 2_000;

/** More came than the database can answer in time. */
export class OverloadedError extends Error {
  override readonly name = 'OverloadedError';

  constructor() {
    super('too many requests are waiting for the database');
  }
}

/** How requests may share a statement. */
interface Sharing<Request> {
  /**
   * Names the row that a request changes. Two requests about one row are never in flight together, so that no statement
   * has to judge a request by what another one in it does. Null, or no such function: any may share.
   */
  readonly rowOf?: (request: Request) => string | null;
}

/** Answers requests in one statement, in their order. It must do no harm when asked twice: a lost connection does that. */
type Ask<Request, Result> = (pool: pg.Pool, requests: readonly Request[]) => Promise<readonly Result[]>;

/**
 * Makes a statement over arrays a function for one caller. Requests that arrive while statements are in flight share the
 * next one, and so one commit. Nothing is held back for that: a single request leaves at the end of the same turn.
 *
 * @returns rejects with {@link OverloadedError} when there is no hope of an answer in time
 */
export function batched<Request, Result>(
  ask: Ask<Request, Result>,
  sharing: Sharing<Request> = {},
): (pool: pg.Pool, request: Request) => Promise<Result> {
  const batchers = new WeakMap<pg.Pool, Batcher<Request, Result>>();
  return (pool, request) => {
    let batcher = batchers.get(pool);
    if (batcher === undefined) {
      batcher = new Batcher((requests) => askTwice(() => ask(pool, requests)), sharing);
      batchers.set(pool, batcher);
    }
    return batcher.send(request);
  };
}

interface Call<Request, Result> {
  readonly request: Request;
  readonly row: string | null;
  readonly since: number;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** The requests for one statement at one database. */
class Batcher<Request, Result> {
  readonly #ask: (requests: readonly Request[]) => Promise<readonly Result[]>;
  readonly #sharing: Sharing<Request>;
  #waiting: Call<Request, Result>[] = [];
  /** Rows that the statements in flight are about. */
  readonly #rows = new Set<string>();
  #inFlight = 0;
  #scheduled = false;
  #sweeping = false;

  constructor(ask: (requests: readonly Request[]) => Promise<readonly Result[]>, sharing: Sharing<Request>) {
    this.#ask = ask;
    this.#sharing = sharing;
  }

  send(request: Request): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= MAX_WAITING) return reject(new OverloadedError());
      const row = this.#sharing.rowOf?.(request) ?? null;
      this.#waiting.push({ request, row, since: performance.now(), resolve, reject });
      this.#schedule();
      this.#sweepLater();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      while (this.#inFlight < MAX_IN_FLIGHT) {
        const batch = this.#takeBatch();
        if (batch.length === 0) return;
        void this.#run(batch);
      }
    });
  }

  /** The first that wait, but none about a row that is in flight or taken already. */
  #takeBatch(): Call<Request, Result>[] {
    const batch: Call<Request, Result>[] = [];
    const rest: Call<Request, Result>[] = [];
    for (const call of this.#waiting) {
      if (!isInTime(call)) continue;
      if (batch.length === MAX_BATCH || (call.row !== null && this.#rows.has(call.row))) {
        rest.push(call);
        continue;
      }
      batch.push(call);
      if (call.row !== null) this.#rows.add(call.row);
    }
    this.#waiting = rest;
    return batch;
  }

  async #run(batch: readonly Call<Request, Result>[]): Promise<void> {
    this.#inFlight += 1;
    await this.#answer(batch);
    this.#inFlight -= 1;
    for (const { row } of batch) if (row !== null) this.#rows.delete(row);
    if (this.#waiting.length > 0) this.#schedule();
  }

  /** After an error that one of them may have caused each is asked alone, and everybody else gets an answer. */
  async #answer(calls: readonly Call<Request, Result>[]): Promise<void> {
    try {
      const results = await this.#ask(calls.map(({ request }) => request));
      calls.forEach((call, index) => {
        const result = results[index];
        if (result === undefined) call.reject(new Error('a request was left without an answer'));
        else call.resolve(result);
      });
    } catch (error) {
      if (calls.length > 1 && isOneCallersFault(error)) {
        await Promise.all(calls.map((call) => this.#answer([call])));
      } else for (const call of calls) call.reject(error);
    }
  }

  /** Nobody waits longer for a place than an answer is worth, also while all statements are stuck. */
  #sweepLater(): void {
    if (this.#sweeping) return;
    this.#sweeping = true;
    setTimeout(() => {
      this.#sweeping = false;
      this.#waiting = this.#waiting.filter(isInTime);
      if (this.#waiting.length > 0) this.#sweepLater();
    }, MAX_WAIT_MS).unref();
  }
}

/** Turns a call away that has waited too long; its caller has given up or is about to. */
function isInTime<Request, Result>(call: Call<Request, Result>): boolean {
  if (performance.now() - call.since <= MAX_WAIT_MS) return true;
  call.reject(new OverloadedError());
  return false;
}
