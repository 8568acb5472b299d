import { decimalOf, hundredths } from './ceiling.ts';
import { effectiveLimit, type PaymentLimit, type Right } from './scope.ts';

// Where the operator lets them, users grant less than an application asks: a smaller sum in the same days. No user grants more,
// and the sum of a one-time payment is what it is.

/** Why a text can't take the place of the sum that is asked. */
export type LoweringProblem =
  /** The right at this place has no limit for a period. */
  | 'no_period_limit'
  | 'not_a_sum'
  /** A third decimal would be lost: `1,000` may be a thousand or one. */
  | 'too_many_decimals'
  | 'not_above_zero'
  | 'higher_than_asked';

/** A limit that may be lowered, the default one included. */
export interface LowerableLimit {
  /** The place of its right in the scope, counted from 0. */
  readonly index: number;
  readonly right: Right;
  readonly limit: PaymentLimit;
}

/** Those of `rights` whose limit may be lowered: all with a sum for a period. */
export function lowerableLimits(rights: readonly Right[]): LowerableLimit[] {
  return rights.flatMap((right, index) => {
    const limit = effectiveLimit(right);
    return limit === undefined || limit.days === null ? [] : [{ index, right, limit }];
  });
}

/** What comes of a user's own sums: problems by the places of their rights or, where there are none, the rights to grant. */
export type Lowering =
  | { readonly rights: readonly Right[]; readonly isLower: boolean; readonly problems: null }
  | { readonly problems: ReadonlyMap<number, LoweringProblem> };

/**
 * Puts a user's own sums in place of those that are asked; the days stay. A right whose sum is not lower stays as it is, so
 * that nothing is written out for nothing.
 *
 * @param typed what the user typed, by the places of the rights; a right without an entry stays as it is
 */
export function lowerLimits(rights: readonly Right[], typed: ReadonlyMap<number, string>): Lowering {
  const asked = new Map(lowerableLimits(rights).map(({ index, limit }) => [index, limit]));
  const problems = new Map<number, LoweringProblem>();
  const lowered = new Map<number, PaymentLimit>();
  for (const [index, text] of typed) {
    const limit = asked.get(index);
    const sum = limit === undefined ? 'no_period_limit' : lowerSum(limit.sum, text);
    if (typeof sum === 'string') problems.set(index, sum);
    else if (limit && sum < hundredths(limit.sum)) lowered.set(index, { ...limit, sum: decimalOf(sum) });
  }
  if (problems.size > 0) return { problems };
  return {
    rights: rights.map((right, index) => withLimit(right, lowered.get(index))),
    isLower: lowered.size > 0,
    problems: null,
  };
}

function withLimit(right: Right, limit: PaymentLimit | undefined): Right {
  return limit !== undefined && 'limit' in right ? { ...right, limit } : right;
}

/** White space is looked at as a space, and none but that between groups of three digits is left in a number. */
const SUM = /^(\d+|\d{1,3}(?: \d{3})+)(?:[.,](\d*))?$/;

/** @returns hundredths, at most those asked */
function lowerSum(asked: string, text: string): bigint | LoweringProblem {
  const [, whole, decimals = ''] = SUM.exec(text.trim().replaceAll(/\s/g, ' ')) ?? [];
  if (whole === undefined) return 'not_a_sum';
  if (decimals.length > 2) return 'too_many_decimals';
  const sum = hundredths(`${whole.replaceAll(' ', '')}.${decimals}`);
  if (sum === 0n) return 'not_above_zero';
  return sum > hundredths(asked) ? 'higher_than_asked' : sum;
}
