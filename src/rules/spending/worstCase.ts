import { daysUntil, endOfDay, type TokenLifetime } from '../common/lifetimes.ts';
import { type Limit, lastDayOf, type Money, moneyOf, sumWithin } from '../common/money.ts';
import { hasSpendingRight, type Right } from '../scope/scope.ts';

/**
 * The most that an application can spend by `rights`, as one limit for the longest of their periods; null for nothing
 * (docs/integrate/resources.md). A shorter one would mislead: 3,000 a day and 45,000 in 30 days are "48,000 in any day" too.
 * @param lifetime as in {@link mostWithin}
 */
export function worstCase(rights: readonly Right[], lifetime: TokenLifetime | null = null): Limit | null {
  if (!hasSpendingRight(rights)) return null;
  const days = Math.max(...rights.map(({ limit }) => limit?.days ?? 0));
  return { days: days === 0 ? null : days, ...mostWithin(rights, Math.max(days, 1), lifetime) };
}

/**
 * The most in any `days` days (at least 1): until a token ends, its total. @throws {Error} for rights without spending
 * @param lifetime of the token: rights that end earlier spend on fewer days; null if unknown
 */
export function mostWithin(
  rights: readonly Right[],
  days: number,
  lifetime: TokenLifetime | null = null,
): Money {
  const limits = rights.flatMap(({ limit }) => limit ?? []);
  const currency = limits[0]?.currency;
  if (currency === undefined) throw new Error('rights that spend nothing have no limit');
  const within = (limit: Limit) => (lifetime === null ? days : Math.min(days, daysOpen(limit, lifetime)));
  const most = limits.reduce((sum, limit) => sum + sumWithin(limit, within(limit)), 0n);
  return moneyOf(most, currency);
}

/** The days of a token on which some right spends, and the last UTC day of them; null for the token's own end. */
export function spendingDays(rights: readonly Right[], lifetime: TokenLifetime) {
  const limits = rights.flatMap(({ limit }) => limit ?? []);
  const [last] = limits.toSorted((one, other) => (lastDayOf(one) < lastDayOf(other) ? 1 : -1));
  return { daysLeft: last ? daysOpen(last, lifetime) : 0, lastDay: last?.until ?? null };
}

/** A begun day counts, and a right that has just ended has one: its user confirms what a page has shown. */
function daysOpen({ until }: Limit, { now, daysLeft }: TokenLifetime): number {
  if (until === undefined) return daysLeft;
  return Math.min(daysLeft, Math.max(1, daysUntil(endOfDay(until), now)));
}
