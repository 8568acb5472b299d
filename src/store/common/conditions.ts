/**
 * A `where` condition of only the given filters, so that its plan fits them. @param conditions by their parameter, such as
 * `{ since: 'a.at >= @since' }` @param filter values; null and undefined ones are ignored
 */
export function whereOf<Name extends string>(
  conditions: Readonly<Record<Name, string>>,
  filter: Readonly<Partial<Record<Name, unknown>>>,
): string {
  const asked = Object.entries(filter).filter(([, value]) => value != null);
  return asked.map(([name]) => conditions[name as Name]).join(' and ') || 'true';
}
