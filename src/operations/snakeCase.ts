import { memoize } from '../rules/common/memoize.ts';

/** A thing by the names that users and programs see, such as `client_id`. */
export type Row = Readonly<Record<string, unknown>>;

export const toSnakeCase = memoize((name: string) =>
  name.replaceAll(/[A-Z]/g, (one) => `_${one.toLowerCase()}`),
);

/** A thing by these names, and so those in its lists. */
export function withSnakeCaseKeys(thing: object): Row {
  const inList = (one: unknown) => (typeof one === 'object' && one !== null ? withSnakeCaseKeys(one) : one);
  const spelled = (value: unknown) => (Array.isArray(value) ? value.map(inList) : value);
  return Object.fromEntries(
    Object.entries(thing).map(([name, value]) => [toSnakeCase(name), spelled(value)]),
  );
}
