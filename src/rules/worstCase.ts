import { decimalOf, hundredths } from './ceiling.ts';
import { effectiveLimit, type PaymentLimit, type Right } from './scope.ts';

/** The most that a scope can cost. An `amount` is an exact decimal, like the sum of a limit. */
export type WorstCase =
  /** Nothing may be spent. */
  | { readonly kind: 'none' }
  /** One payment of exactly `amount`, and no other. */
  | { readonly kind: 'once'; readonly amount: string }
  /** At most `amount` in any `days` days. */
  | { readonly kind: 'period'; readonly days: number; readonly amount: string };

/**
 * The most that an application can spend by `rights`, as one line: a sum in any period as long as the longest among them.
 *
 * A day is 24 hours, and a period slides: "at most s in any d days" holds for every interval of d days, its end left out
 * (so a second payment of s is fine exactly d days after the first). Every spending right has a budget of its own, and a
 * payment is counted in one of them (docs/resources.md), so what the rights cost adds up.
 *
 * In any W days a budget of s in d days can spend s·⌈W/d⌉, and no more: so many intervals of d days cover the W days, each
 * with at most s; and s paid at 0, d, 2d, … is so much. All budgets can do this at once, so the sum of these is exact
 * for each W. (The line is also true of longer times: k·W days cost at most k times the amount.) W is the longest period,
 * because in a shorter one the amount would sound like a sum for that: 3,000 a day and 45,000 in 30 days are at most
 * 135,000 in any 30 days; "48,000 in any day" is true as well, and would mislead.
 *
 * One-time payments come with no other right that spends (docs/scopes.md). A list that has more of them all the same is
 * answered safely: their sums are added to whatever else can be spent.
 */
export function worstCase(rights: readonly Right[]): WorstCase {
  const limits = limitsOf(rights);
  if (limits.length === 0) return { kind: 'none' };
  const days = Math.max(...limits.map((limit) => limit.days ?? 0));
  const amount = mostWithin(rights, Math.max(days, 1));
  return days === 0 ? { kind: 'once', amount } : { kind: 'period', days, amount };
}

/**
 * The most that `rights` let an application spend in any `days` days: exact, and not only a bound. With the days until a
 * token ends this is its total.
 *
 * @param days whole days, at least 1
 * @returns an exact decimal
 */
export function mostWithin(rights: readonly Right[], days: number): string {
  return decimalOf(limitsOf(rights).reduce((sum, limit) => sum + spendable(limit, days), 0n));
}

/** The most that one limit lets through in any `days` days, in hundredths. */
export function spendable(limit: PaymentLimit, days: number): bigint {
  const times = limit.days === null ? 1 : Math.ceil(days / limit.days);
  return hundredths(limit.sum) * BigInt(times);
}

function limitsOf(rights: readonly Right[]): PaymentLimit[] {
  return rights.map(effectiveLimit).filter((limit) => limit !== undefined);
}
