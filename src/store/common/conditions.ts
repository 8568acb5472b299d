/**
 * A `where` condition with only what is asked for, so that its plan is made for that. @param conditions by their parameter, such
 * as `{ since: 'a.at >= @since' }` @param filter values; null and undefined ones ask for nothing
 */
export function whereOf<Name extends string>(
  conditions: Readonly<Record<Name, string>>,
  filter: Readonly<Partial<Record<Name, unknown>>>,
): string {
  const asked = Object.entries(filter).filter(([, value]) => value != null);
  return asked.map(([name]) => conditions[name as Name]).join(' and ') || 'true';
}
