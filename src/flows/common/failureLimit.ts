/** Keys with a count; a further one replaces the one that is unchanged for longest, which bounds memory. */
const MAX_KEYS = 50_000;

/** Counts the failures of each key, such as a network, for a time from its first; not successes. */
export class FailureLimit {
  readonly #most: number;
  readonly #windowMs: number;
  readonly #counts = new Map<string, { readonly count: number; readonly ends: number }>();

  constructor(most: number, windowMs: number) {
    this.#most = most;
    this.#windowMs = windowMs;
  }

  /** Counts failures. @param failures 0 to ask only @returns seconds to wait after too many, 0 otherwise */
  note(key: string, failures = 1): number {
    const now = performance.now();
    const earlier = this.#counts.get(key);
    const isNew = earlier === undefined || now >= earlier.ends;
    const [count, ends] = isNew ? [failures, now + this.#windowMs] : [earlier.count + failures, earlier.ends];
    this.#counts.delete(key);
    this.#counts.set(key, { count, ends });
    const [unchangedLongest = ''] = this.#counts.keys();
    if (this.#counts.size > MAX_KEYS) this.#counts.delete(unchangedLongest);
    return count > this.#most ? Math.ceil((ends - now) / 1000) : 0;
  }
}
