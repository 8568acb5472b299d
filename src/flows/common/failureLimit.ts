import { LruMap } from 'toad-cache';

/** Keys with a count; a further one replaces the one that is unchanged for longest, which bounds memory. */
const MAX_KEYS = 50_000;

/**
 * Counts the failures of each key, such as a network, for a time from its first; successes don't count.
 * @returns a function that counts `failures` more, 0 to ask only, and returns the seconds to wait; 0 for no wait
 */
export function limitFailures(most: number, windowMs: number) {
  const counts = new LruMap<{ readonly count: number; readonly ends: number }>(MAX_KEYS);
  return (key: string, failures = 1): number => {
    const now = performance.now();
    const earlier = counts.get(key);
    const isNew = earlier === undefined || now >= earlier.ends;
    const [count, ends] = isNew ? [failures, now + windowMs] : [earlier.count + failures, earlier.ends];
    counts.set(key, { count, ends });
    return count > most ? Math.ceil((ends - now) / 1000) : 0;
  };
}
