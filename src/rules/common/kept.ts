const MAX_RESULTS_KEPT = 1_000;

/** Caches a pure function's results for at most its last thousand arguments. For parsers and for `Intl`. */
export function kept<Key, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const made = new Map<Key, Made>();
  return (key) => {
    const found = made.get(key);
    if (found !== undefined) return found;
    if (made.size >= MAX_RESULTS_KEPT) made.clear();
    const one = make(key);
    made.set(key, one);
    return one;
  };
}

/** Makes a thing on first use, and keeps it: slow loads must not delay every start. */
export function onFirstUse<Made extends object>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
