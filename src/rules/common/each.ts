/** One value for several names. */
export function each<const Value, Name extends string>(value: Value, ...names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name, value])) as Record<Name, Value>;
}
