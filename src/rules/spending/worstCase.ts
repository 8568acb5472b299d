import { type Limit, type Money, moneyOf, sumWithin } from '../common/money.ts';
import { hasSpendingRight, type Right } from '../scope/scope.ts';

/**
 * The most that an application can spend by `rights`, as one limit for the longest of their periods; null for nothing
 * (docs/integrate/resources.md). A shorter one would mislead: 3,000 a day and 45,000 in 30 days are "48,000 in any day" too.
 */
export function worstCase(rights: readonly Right[]): Limit | null {
  if (!hasSpendingRight(rights)) return null;
  const days = Math.max(...rights.map(({ limit }) => limit?.days ?? 0));
  return { days: days === 0 ? null : days, ...mostWithin(rights, Math.max(days, 1)) };
}

/** The most in any `days` days (at least 1): until a token ends, its total. @throws {Error} for rights without spending */
export function mostWithin(rights: readonly Right[], days: number): Money {
  const limits = rights.flatMap(({ limit }) => limit ?? []);
  const currency = limits[0]?.currency;
  if (currency === undefined) throw new Error('rights that spend nothing have no limit');
  const most = limits.reduce((sum, limit) => sum + sumWithin(limit, days), 0n);
  return moneyOf(most, currency);
}
