/** The series of an answer of `/metrics`, each as Prometheus writes it, such as `assent_exchanges_total{outcome="issued"}`. */
export type Series = ReadonlyMap<string, number>;

export function readSeries(body: string): Series {
  const lines = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}

export function namesOf(series: Series): Set<string> {
  return new Set([...series.keys()].map((one) => one.replace(/\{.*$/, '')));
}

/** By how much those series grew that `pattern` matches; what stayed as it was is left out. */
export function growth(before: Series, after: Series, pattern: RegExp): Record<string, number> {
  const grown = [...after].map(([one, value]) => [one, value - (before.get(one) ?? 0)] as const);
  return Object.fromEntries(grown.filter(([one, by]) => by !== 0 && pattern.test(one)));
}
