import { FifoMap } from 'toad-cache';

const MAX_RESULTS = 1_000;

/** Caches a pure function's results for at most its last thousand arguments. For parsers and for `Intl`. */
export function memoize<Key, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const made = new FifoMap<Made>(MAX_RESULTS);
  return (key) => {
    const found = made.get(key);
    if (found !== undefined) return found;
    const one = make(key);
    made.set(key, one);
    return one;
  };
}

/** Makes a thing on first use, and keeps it: slow loads must not delay every start. */
export function lazy<Made extends object>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
