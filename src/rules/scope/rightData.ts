import type { MoneySource } from './rights.ts';
import { hasSpendingRight, type Right } from './scope.ts';

/** The rights of a scope as data, so that resource servers need no scope parser. JSON omits undefined fields. */
export function rightData(rights: readonly Right[]) {
  return rights.map(({ name, target, type, sources, limit }) => ({
    right: name,
    target,
    target_type: type,
    sources,
    /** Undefined also for one payment of exactly `amount`. */
    period_days: limit?.days ?? undefined,
    /** An exact decimal as text, never a float; including the default limit's. */
    amount: limit?.sum,
    /** The largest single payment; undefined if only `amount` bounds it. */
    largest: limit?.each,
    /** The last day (UTC), such as `2027-06-30`; undefined for the token's end. */
    until: limit?.until,
    currency: limit?.currency,
  }));
}

export type RightJson = ReturnType<typeof rightData>[number];

export function limitsAmong(rights: readonly RightJson[]): RightJson[] {
  return rights.filter(({ amount }) => amount !== undefined);
}

/** Those of the scope, otherwise the wallet; none without spending. */
export function moneySources(rights: readonly Right[]): readonly MoneySource[] {
  if (!hasSpendingRight(rights)) return [];
  return rights.find(({ sources }) => sources)?.sources ?? ['wallet'];
}
