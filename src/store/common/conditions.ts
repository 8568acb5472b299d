/** A `where` condition of only the given filters, so that its plan fits them. Null and undefined ones are ignored. */
export function whereOf<Name extends string>(
  conditions: Readonly<Record<Name, string>>,
  filter: Readonly<Partial<Record<Name, unknown>>>,
): string {
  const asked = Object.entries(filter).filter(([, value]) => value != null);
  return asked.map(([name]) => conditions[name as Name]).join(' and ') || 'true';
}

/** SQL for microseconds since 1970: rows of one statement may be less than a millisecond apart. */
export const microsOf = (time: string) => `(extract(epoch from ${time}) * 1000000)::bigint`;
/** The reverse. */
export const timeOf = (count: string) => `timestamptz 'epoch' + ${count}::bigint * interval '1 microsecond'`;
/** The time in `@after`, the place of a row: its microseconds, a dot, and what distinguishes it within them. */
export const AFTER_TIME = timeOf(`split_part(@after, '.', 1)`);
