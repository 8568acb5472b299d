import { LruMap } from 'toad-cache';

/** Keys with a count; a further one replaces the one that is unchanged for longest, which bounds memory. */
const MAX_KEYS = 50_000;

/** Counts failures by key for a time from the first. @returns adds `failures`, and returns the seconds to wait, 0 for none */
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
