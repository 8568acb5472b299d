/** A record with one value for several names. */
export function recordOf<const Name extends string, const Value>(names: readonly Name[], value: Value) {
  return Object.fromEntries(names.map((name) => [name, value])) as Record<Name, Value>;
}
