const MAX_KEPT = 1_000;

/** Keeps what a pure function made of its last thousand arguments, or fewer. Made for parsers and for `Intl`. */
export function kept<Key, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const made = new Map<Key, Made>();
  return (key) => {
    const found = made.get(key);
    if (found !== undefined) return found;
    if (made.size >= MAX_KEPT) made.clear();
    const one = make(key);
    made.set(key, one);
    return one;
  };
}

/** Makes a thing when it is first asked for, and keeps it: what takes time to make or load must not make every start slower. */
export function onFirstUse<Made extends object>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
