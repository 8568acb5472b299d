import type pg from 'pg';
import { networkOf } from '../rules/network.ts';
import { insertRefusals, type Refusal } from '../store/refusals.ts';
import type { Context } from './context.ts';

export { findRefusal } from '../store/refusals.ts';

/** What is kept of an error that says nothing else. */
export const OWN_FAULT = { error: 'server_error', rule: 'a fault of ours' };

/** Refusals wait this long, so that many share one statement. */
const WRITE_MS = 1_000;
/** Refusals kept of one such batch, and of one network in it. */
const MAX_A_WRITE = 20;
const MAX_OF_A_NETWORK_A_WRITE = 5;
/** Refusals kept of one network in one window: in a week it fills two thirds of the slots at most. */
const MAX_OF_A_NETWORK = 60;
const WINDOW_MS = 10 * 60 * 1000;
/** Networks counted apart in one window; of further ones nothing is kept. */
const MAX_NETWORKS = 10_000;

/**
 * Keeps why requests were refused, for `assent explain`. Limits for each batch and network keep a flood from loading the
 * database and from pushing out the refusals of others.
 */
export class RefusalLog {
  readonly #db: pg.Pool;
  #waiting: { readonly network: string; readonly refusal: Refusal }[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #counts = new Map<string, number>();
  #windowEnds = 0;

  constructor({ db }: Context) {
    this.#db = db;
  }

  /** Notes a refusal, unless there are too many. @param address of the caller: counted, not kept */
  note(refusal: Omit<Refusal, 'at'>, address: string): void {
    const network = networkOf(address);
    if (this.#waiting.length >= MAX_A_WRITE || !this.#mayKeep(network)) return;
    this.#waiting.push({ network, refusal: { ...refusal, at: new Date() } });
    this.#timer ??= setTimeout(() => void this.write(), WRITE_MS).unref();
  }

  /** Writes what waits. What can't be written waits for the next refusal. */
  async write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const written = this.#waiting;
    if (written.length === 0) return;
    this.#waiting = [];
    try {
      const rows = written.map(({ refusal }) => refusal);
      await insertRefusals(this.#db, rows);
    } catch {
      // The log has all of them, and `DatabaseWatch` reports the database.
      this.#waiting = [...written, ...this.#waiting].slice(0, MAX_A_WRITE);
    }
  }

  #mayKeep(network: string): boolean {
    if (this.#waiting.filter((each) => each.network === network).length >= MAX_OF_A_NETWORK_A_WRITE)
      return false;
    const now = performance.now();
    if (now >= this.#windowEnds) {
      this.#counts.clear();
      this.#windowEnds = now + WINDOW_MS;
    }
    const count = this.#counts.get(network) ?? 0;
    if (count >= MAX_OF_A_NETWORK || (count === 0 && this.#counts.size >= MAX_NETWORKS)) return false;
    this.#counts.set(network, count + 1);
    return true;
  }
}
