import type { Context } from '../flows/common/context.ts';
import { limitFailures } from '../flows/common/failureLimit.ts';
import { rateLimitNetworkOf } from '../rules/common/network.ts';
import {
  insertRefusals,
  MAX_REFUSALS_PER_NETWORK,
  type StoredRefusal,
  WINDOW_MS,
} from '../store/common/refusals.ts';

/** The log fields of an error without its own. */
export const SERVER_ERROR_FIELDS = {
  error: 'server_error',
  rule: 'internal error',
  rule_id: 'server_error',
} as const;

/** The reference of the note on an unused `X-Forwarded-For`, whose request isn't refused. */
export const FORWARDED_FOR_REFERENCE = 'x-forwarded-for';

/** Delay of refusals, so that many share one statement. */
const WRITE_MS = 1_000;
/** Refusals kept of one such batch, and of one network in it. */
const MAX_A_WRITE = 20;
const MAX_OF_A_NETWORK_A_WRITE = 5;

/**
 * Keeps reasons of refused requests for `assent explain`. Batch limits bound the load of a flood; the limit per network, shared
 * by all processes (`store/common/refusals.ts`), protects the refusals of others.
 */
export class RefusalLog {
  readonly #context: Context;
  #waiting: StoredRefusal[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** By network: refusals to be dropped later must not fill a batch. */
  readonly #note = limitFailures(MAX_REFUSALS_PER_NETWORK, WINDOW_MS);

  constructor(context: Context) {
    this.#context = context;
  }

  /** Notes a refusal, unless there are too many. @param address of the caller: counted, not kept */
  note(refusal: Omit<StoredRefusal, 'at' | 'network'>, address: string): void {
    if (this.#waiting.length >= MAX_A_WRITE) return;
    const network = this.#context.keyRing.slotDigest(
      JSON.stringify(['refusals', rateLimitNetworkOf(address)]),
    );
    const ofNetwork = this.#waiting.filter((each) => each.network === network);
    if (ofNetwork.length >= MAX_OF_A_NETWORK_A_WRITE) return;
    if (this.#note(String(network)) > 0) return;
    this.#waiting.push({ ...refusal, at: new Date(), network });
    this.#timer ??= setTimeout(() => void this.write(), WRITE_MS).unref();
  }

  /** Writes the queue. A failed write waits for the next refusal. */
  async write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const written = this.#waiting;
    if (written.length === 0) return;
    this.#waiting = [];
    try {
      await insertRefusals(this.#context.db, written);
    } catch {
      // The log has all of them, and `DatabaseWatch` reports the outage.
      this.#waiting = [...written, ...this.#waiting].slice(0, MAX_A_WRITE);
    }
  }
}
