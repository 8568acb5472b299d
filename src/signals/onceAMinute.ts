const MINUTE_MS = 60_000;

/** Forwards log messages, each text at most once a minute. */
export function onceAMinute<Rest extends unknown[]>(log: (text: string, ...rest: Rest) => void): typeof log {
  const last = new Map<string, number>();
  return (text, ...rest) => {
    const now = performance.now();
    if (now - (last.get(text) ?? Number.NEGATIVE_INFINITY) < MINUTE_MS) return;
    last.set(text, now);
    log(text, ...rest);
  };
}
