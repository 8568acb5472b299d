/** The conditions of a statement that were asked for, and the values of their parameters. */
interface Where {
  /** `true` when nothing was asked for. */
  readonly condition: string;
  readonly values: Readonly<Record<string, Value>>;
}

type Value = string | Date;

/**
 * Conditions for a `where` clause. Only those with a value stand in the statement, so that its plan is made for them.
 *
 * @param conditions by their parameter, such as `{ since: 'a.at >= @since' }`
 * @param filter values; null and undefined ones ask for nothing
 */
export function whereOf<Name extends string>(
  conditions: Readonly<Record<Name, string>>,
  filter: Readonly<Partial<Record<Name, Value | null | undefined>>>,
): Where {
  const entries = Object.entries<Value | null | undefined>(filter).filter(([, value]) => value != null);
  const condition = entries.map(([name]) => conditions[name as Name]).join(' and ');
  return { condition: condition || 'true', values: Object.fromEntries(entries) as Record<string, Value> };
}
