import type pg from 'pg';
import { OverloadedError } from '../../rules/common/error.ts';
import { BATCH_QUEUE_TIMEOUT_MS } from '../../rules/common/timeouts.ts';
import { batchRefusalChannel, batchSentChannel } from '../../signals/timings.ts';
import { isConnectionLost, isOneCallersFault } from './errors.ts';
import { findEach } from './query.ts';
import type { ComputedInputs, SqlTemplate } from './statement.ts';

export const BATCHES = new Set<string>();

/** An error is the result of one request. */
type RunBatch<Request, Result> = (
  pool: pg.Pool,
  requests: readonly Request[],
) => Promise<readonly (Result | Error)[]>;

/**
 * Turns a statement over arrays into a function for one caller. Requests that arrive while statements are in flight share the
 * next one, and so one commit; a single request leaves at the end of the same turn. Each pool has its own batches.
 * @param runBatch must be repeatable, as it runs again after a lost connection, when the first may have been carried out
 * @param rowOf the row that a request changes: two about one row are never in flight together
 * @returns rejects with {@link OverloadedError} if the response would be too late
 */
export function batched<Request, Result>(
  name: string,
  runBatch: RunBatch<Request, Result>,
  rowOf: (request: Request) => string | null = () => null,
): (pool: pg.Pool, request: Request) => Promise<Result> {
  BATCHES.add(name);
  const batchers = new WeakMap<pg.Pool, Batcher<Request, Result>>();
  return (pool, request) => {
    let batcher = batchers.get(pool);
    if (batcher === undefined) {
      batcher = new Batcher(name, pool, runBatch);
      batchers.set(pool, batcher);
    }
    return batcher.send(request, rowOf(request));
  };
}

/** Turns a {@link batchStatement} that only reads into a function for one caller, see {@link batched}: its row, null for none. */
export function findOneBatched<Request, Row extends object>(
  name: string,
  computed?: ComputedInputs<Request>,
) {
  return (...sql: SqlTemplate) => batched(name, findEach<Request, Row>(name, computed)(...sql));
}

const MAX_BATCH = 128;
/** One statement can wait for its commit while the next is prepared; further ones only wait for each other. */
const MAX_IN_FLIGHT = 2;
/** Requests queued for the next statement; further callers get an overload error. */
const MAX_READY = 2_000;
/** Requests queued behind another one about the same row; they take no room from those about other rows. */
const MAX_BEHIND = 2_000;
const MAX_BEHIND_ROW = 256;

interface Call<Request, Result> {
  readonly request: Request;
  readonly row: string | null;
  readonly since: number;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * The requests for one statement to one database, see {@link batched}. Collecting for a fixed time would delay each request of a quiet
 * server. A statement with two requests about one row would judge one by the effect of the other.
 */
class Batcher<Request, Result> {
  readonly #name: string;
  readonly #runBatch: (requests: readonly Request[]) => ReturnType<RunBatch<Request, Result>>;
  /** Requests for the next statement, each row once. */
  #ready: Call<Request, Result>[] = [];
  /** The rows of ready or in-flight requests; only texts, because V8 can retain a table's former contents for long. */
  readonly #busyRows = new Set<string>();
  /** By row: the requests that wait behind one of those. */
  readonly #waitingByRow = new Map<string, Call<Request, Result>[]>();
  #waitingCount = 0;
  #inFlight = 0;
  #scheduled = false;
  #sweeping = false;

  constructor(name: string, pool: pg.Pool, runBatch: RunBatch<Request, Result>) {
    this.#name = name;
    this.#runBatch = (requests) =>
      runBatch(pool, requests).catch((error: unknown) => {
        // After a timeout it would take as long again.
        if (isConnectionLost(error)) return runBatch(pool, requests);
        throw error;
      });
  }

  send(request: Request, row: string | null): Promise<Result> {
    return new Promise((resolve, reject) => {
      const accepted = this.#enqueue({ request, row, since: performance.now(), resolve, reject });
      if (accepted) this.#sweepLater();
      else this.#refuse({ reject });
    });
  }

  /** @returns false if its queue is full */
  #enqueue(call: Call<Request, Result>): boolean {
    const { row } = call;
    if (row !== null && this.#busyRows.has(row)) {
      const waiting = this.#waitingByRow.get(row) ?? [];
      if (waiting.length >= MAX_BEHIND_ROW || this.#waitingCount >= MAX_BEHIND) return false;
      this.#waitingCount += 1;
      waiting.push(call);
      this.#waitingByRow.set(row, waiting);
      return true;
    }
    if (this.#ready.length >= MAX_READY) return false;
    if (row !== null) this.#busyRows.add(row);
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
        const batch = this.#takeReady(MAX_BATCH);
        if (batch.length === 0) return;
        void this.#run(batch);
      }
    });
  }

  #takeReady(most: number): Call<Request, Result>[] {
    const taken: Call<Request, Result>[] = [];
    while (taken.length < most) {
      const call = this.#ready.shift();
      if (call === undefined) break;
      if (this.#isInTime(call)) taken.push(call);
      else this.#release(call);
    }
    return taken;
  }

  async #run(batch: readonly Call<Request, Result>[]): Promise<void> {
    this.#inFlight += 1;
    const longest = performance.now() - Math.min(...batch.map(({ since }) => since));
    batchSentChannel.publish({ name: this.#name, size: batch.length, waitSeconds: longest / 1000 });
    await this.#answer(batch);
    this.#inFlight -= 1;
    this.#schedule();
  }

  /** After an error that one request may have caused, each runs alone, so that the others succeed. */
  async #answer(calls: readonly Call<Request, Result>[]): Promise<void> {
    try {
      const results = await this.#runBatch(calls.map(({ request }) => request));
      calls.forEach((call, index) => {
        const result = results[index];
        this.#release(call);
        if (result === undefined) call.reject(new Error('the batch has no result for a request'));
        else if (result instanceof Error) call.reject(result);
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
    const waiting = this.#waitingByRow.get(row);
    const next = waiting?.shift();
    if (waiting?.length === 0) this.#waitingByRow.delete(row);
    if (next === undefined) {
      this.#busyRows.delete(row);
      return;
    }
    this.#waitingCount -= 1;
    this.#ready.push(next);
    this.#schedule();
  }

  /** Refuses requests that have waited too long, even while all statements hang. */
  #sweepLater(): void {
    if (this.#sweeping) return;
    this.#sweeping = true;
    setTimeout(() => {
      this.#sweeping = false;
      for (const [row, calls] of this.#waitingByRow) {
        const inTime = calls.filter((call) => this.#isInTime(call));
        this.#waitingCount -= calls.length - inTime.length;
        this.#waitingByRow.set(row, inTime);
      }
      this.#ready = this.#takeReady(Number.POSITIVE_INFINITY);
      if (this.#ready.length + this.#waitingCount > 0) this.#sweepLater();
    }, BATCH_QUEUE_TIMEOUT_MS).unref();
  }

  /** True while the caller still waits; otherwise the request is refused. */
  #isInTime(call: Call<Request, Result>): boolean {
    if (performance.now() - call.since <= BATCH_QUEUE_TIMEOUT_MS) return true;
    this.#refuse(call);
    return false;
  }

  #refuse({ reject }: Pick<Call<Request, Result>, 'reject'>): void {
    batchRefusalChannel.publish({ name: this.#name });
    reject(new OverloadedError('too many requests are waiting for the database'));
  }
}
