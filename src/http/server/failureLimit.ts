import type { FastifyRequest } from 'fastify';
import { MAX_FAILURES_PER_MINUTE } from '../../rules/common/limits.ts';
import { networkOf } from '../../rules/common/network.ts';
import { tell } from '../../signals/happenings.ts';
import { addressOf } from '../request/caller.ts';

const WINDOW_MS = 60_000;
/** Networks counted separately in one window; further ones share one count, which bounds memory. */
const MAX_NETWORKS = 50_000;
const ALL_OTHERS = 'all others';

/** Rate-limits each network's failures in fixed windows; not successes, since all of a merchant's have one address. */
export class FailureLimit {
  readonly #failures = new Map<string, number>();
  #windowEnds = 0;

  /** Counts a failure. @returns seconds to wait after too many, 0 otherwise */
  note(request: FastifyRequest): number {
    const now = performance.now();
    if (now >= this.#windowEnds) {
      this.#failures.clear();
      this.#windowEnds = now + WINDOW_MS;
    }
    const own = networkOf(addressOf(request));
    const network = this.#failures.has(own) || this.#failures.size < MAX_NETWORKS ? own : ALL_OTHERS;
    const failures = (this.#failures.get(network) ?? 0) + 1;
    this.#failures.set(network, failures);
    if (failures <= MAX_FAILURES_PER_MINUTE) return 0;
    tell('throttle', 'failures');
    return Math.ceil((this.#windowEnds - now) / 1000);
  }
}
