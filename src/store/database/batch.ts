import type pg from 'pg';
import { BATCH_WAIT_MS } from '../../rules/timeouts.ts';
import { isOneCallersFault, OverloadedError, retryOnLostConnection } from './errors.ts';

/** Requests that one statement answers, at most. */
const MAX_BATCH = 128;
/** One statement can wait for its commit while the next is prepared; more of them only wait for each other. */
const MAX_IN_FLIGHT = 2;
/** Requests that wait for the next statement: beyond these a caller is told to come back later. */
const MAX_READY = 2_000;
/** Requests that wait for another one about the same row; they take no place from those about other rows. */
const MAX_BEHIND = 2_000;
/** The same of one row. */
const MAX_BEHIND_ROW = 256;

/**
 * Names the row that a request changes. Two requests about one row are never in flight together, so that no statement has to
 * judge a request by what another one in it does. Null when any may share.
 */
type RowOf<Request> = (request: Request) => string | null;

/** Answers requests by one statement, in their order. It must be repeatable: it is asked again after a lost connection. */
type Ask<Request, Result, Where> = (where: Where, requests: readonly Request[]) => Promise<readonly Result[]>;

/**
 * Makes a statement over arrays a function for one caller. Requests that arrive while statements are in flight share the
 * next one, and so one commit. Nothing is held back for that: a single request leaves at the end of the same turn. Each
 * `where`, a pool or a standby, has batches of its own.
 *
 * @returns rejects with {@link OverloadedError} when there is no hope of an answer in time
 */
export function batched<Request, Result, Where extends object = pg.Pool>(
  ask: Ask<Request, Result, Where>,
  rowOf: RowOf<Request> = () => null,
): (where: Where, request: Request) => Promise<Result> {
  const batchers = new WeakMap<Where, Batcher<Request, Result>>();
  return (where, request) => {
    let batcher = batchers.get(where);
    if (batcher === undefined) {
      batcher = new Batcher((requests) => retryOnLostConnection(() => ask(where, requests)), rowOf);
      batchers.set(where, batcher);
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
  readonly #rowOf: RowOf<Request>;
  /** What the next statement takes, each row once. */
  #ready: Call<Request, Result>[] = [];
  /** By row of what is ready or in flight: the requests that wait for it to be answered. */
  readonly #behind = new Map<string, Call<Request, Result>[]>();
  /** How many those are. */
  #behindCount = 0;
  #inFlight = 0;
  #scheduled = false;
  #sweeping = false;

  constructor(ask: (requests: readonly Request[]) => Promise<readonly Result[]>, rowOf: RowOf<Request>) {
    this.#ask = ask;
    this.#rowOf = rowOf;
  }

  send(request: Request): Promise<Result> {
    return new Promise((resolve, reject) => {
      const row = this.#rowOf(request);
      const accepted = this.#enqueue({ request, row, since: performance.now(), resolve, reject });
      if (accepted) this.#sweepLater();
      else reject(new OverloadedError());
    });
  }

  /** @returns false when there is no room */
  #enqueue(call: Call<Request, Result>): boolean {
    const behind = call.row === null ? undefined : this.#behind.get(call.row);
    if (behind !== undefined) {
      if (behind.length >= MAX_BEHIND_ROW || this.#behindCount >= MAX_BEHIND) return false;
      this.#behindCount += 1;
      behind.push(call);
      return true;
    }
    if (this.#ready.length >= MAX_READY) return false;
    if (call.row !== null) this.#behind.set(call.row, []);
    this.#ready.push(call);
    this.#schedule();
    return true;
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

  #takeBatch(): Call<Request, Result>[] {
    const batch: Call<Request, Result>[] = [];
    while (batch.length < MAX_BATCH) {
      const call = this.#ready.shift();
      if (call === undefined) break;
      if (isInTime(call)) batch.push(call);
      else this.#release(call);
    }
    return batch;
  }

  async #run(batch: readonly Call<Request, Result>[]): Promise<void> {
    this.#inFlight += 1;
    await this.#answer(batch);
    this.#inFlight -= 1;
    this.#schedule();
  }

  /** After an error that one request may have caused, each is asked alone, so that the others get their answers. */
  async #answer(calls: readonly Call<Request, Result>[]): Promise<void> {
    try {
      const results = await this.#ask(calls.map(({ request }) => request));
      calls.forEach((call, index) => {
        const result = results[index];
        this.#release(call);
        if (result === undefined) call.reject(new Error('a request was left without an answer'));
        else call.resolve(result);
      });
    } catch (error) {
      if (calls.length > 1 && isOneCallersFault(error)) {
        await Promise.all(calls.map((call) => this.#answer([call])));
        return;
      }
      for (const call of calls) {
        this.#release(call);
        call.reject(error);
      }
    }
  }

  /** Makes the next request about the same row ready. */
  #release({ row }: Call<Request, Result>): void {
    if (row === null) return;
    const next = this.#behind.get(row)?.shift();
    if (next === undefined) {
      this.#behind.delete(row);
      return;
    }
    this.#behindCount -= 1;
    this.#ready.push(next);
    this.#schedule();
  }

  /** Turns away what waits for too long, also while all statements are stuck. */
  #sweepLater(): void {
    if (this.#sweeping) return;
    this.#sweeping = true;
    setTimeout(() => {
      this.#sweeping = false;
      for (const [row, calls] of this.#behind) {
        const inTime = calls.filter(isInTime);
        this.#behindCount -= calls.length - inTime.length;
        this.#behind.set(row, inTime);
      }
      const ready = this.#ready;
      this.#ready = [];
      for (const call of ready) {
        if (isInTime(call)) this.#ready.push(call);
        else this.#release(call);
      }
      if (this.#ready.length + this.#behindCount > 0) this.#sweepLater();
    }, BATCH_WAIT_MS).unref();
  }
}

/** Whether an answer is still worth something; otherwise the caller, who has given up or is about to, is turned away. */
function isInTime({ since, reject }: Pick<Call<unknown, unknown>, 'since' | 'reject'>): boolean {
  if (performance.now() - since <= BATCH_WAIT_MS) return true;
  reject(new OverloadedError());
  return false;
}
