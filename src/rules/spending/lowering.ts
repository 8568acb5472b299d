import { dayOf, monthsAfter, type TokenLifetime } from '../common/lifetimes.ts';
import { hundredths, type Limit, largestPayment, moneyOf } from '../common/money.ts';
import type { FurtherLimit } from '../request/scopeRules.ts';
import type { Right } from '../scope/scope.ts';

// If the operator allows it, users grant less of a limit for the same days, never more or another one-time payment.

export type LoweringProblem =
  | 'not_a_sum'
  /** A third decimal would be lost: `1,000` may be a thousand or one. */
  | 'too_many_decimals'
  | 'not_above_zero'
  | 'higher_than_asked';

/** The fields of a limit. */
export type LimitPart = 'sum' | FurtherLimit;

/** What a user typed as the sums of a limit, and chose as its last day, empty for the asked one; undefined as asked. */
export type LoweredLimit = { readonly [Part in LimitPart]?: string | undefined };

export type LoweringProblems = Partial<Record<LimitPart, LoweringProblem>>;

/** Those of `rights` with a sum for a period. `index`: the right's position, from 0. */
export function lowerableLimits(rights: readonly Right[]) {
  return rights.flatMap(({ limit }, index) => (typeof limit?.days === 'number' ? [{ index, limit }] : []));
}

/** The last days that users may choose instead of the asked one, a number of months from now. */
export function earlierEnds({ until }: Limit, { now, expiresAt }: TokenLifetime) {
  const asked = until ?? dayOf(expiresAt);
  const ends = [12, 1].map((months) => ({ months, day: dayOf(monthsAfter(now, months)) }));
  return ends.filter(({ day }) => day < asked);
}

/** Replaces requested limits with a user's lower ones, by index. @returns problems by index or, without any, the granted rights */
export function lowerLimits(rights: readonly Right[], typed: ReadonlyMap<number, LoweredLimit>) {
  const problems = new Map<number, LoweringProblems>();
  const granted = [...rights];
  for (const { index, limit } of lowerableLimits(rights)) {
    const [right, lowered] = [rights[index], typed.get(index)];
    if (right === undefined || lowered === undefined) continue;
    const result = lowerLimit(limit, lowered);
    if ('problems' in result) problems.set(index, result.problems);
    else if (result.limit !== limit) granted[index] = { ...right, limit: result.limit };
  }
  if (problems.size > 0) return { problems };
  const isLower = granted.some((right, index) => right !== rights[index]);
  return { rights: granted, isLower, problems: null };
}

/** @returns `asked` itself if nothing of it is lower */
function lowerLimit(asked: Limit, typed: LoweredLimit): { limit: Limit } | { problems: LoweringProblems } {
  const [mostInAll, largestAsked] = [hundredths(asked), largestPayment(asked)];
  const sum = typed.sum === undefined ? mostInAll : lowerSum(mostInAll, typed.sum);
  const each = typed.each === undefined ? largestAsked : lowerSum(largestAsked, typed.each);
  if (typeof sum === 'string' || typeof each === 'string')
    return {
      problems: { ...(typeof sum === 'string' && { sum }), ...(typeof each === 'string' && { each }) },
    };
  const [until] = [asked.until, typed.until].filter((day) => day).toSorted();
  if (sum === mostInAll && each === largestAsked && until === asked.until) return { limit: asked };
  return {
    limit: {
      days: asked.days,
      ...moneyOf(sum, asked.currency),
      // A largest payment of the whole sum bounds nothing.
      ...(each < sum && { each: moneyOf(each, '').sum }),
      ...(until !== undefined && { until }),
    },
  };
}

/** The zeros of keyboards in scripts with digits of their own: Arabic, Persian, Devanagari, Bengali, Thai, full-width. */
const ZEROS = [0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0xff10];

function inLatinDigits(text: string): string {
  const digits = text.replaceAll(/\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0;
    const zero = ZEROS.find((one) => code >= one && code < one + 10);
    return zero === undefined ? digit : String(code - zero);
  });
  return digits.replace('٫', '.');
}

/** Spaces only between groups of three digits. */
const SUM = /^(\d+|\d{1,3}(?: \d{3})+)(?:[.,](\d*))?$/;

/** @param asked hundredths @returns hundredths, at most the requested ones */
function lowerSum(asked: bigint, text: string): bigint | LoweringProblem {
  const [, whole, decimals = ''] = SUM.exec(inLatinDigits(text).trim().replaceAll(/\s/g, ' ')) ?? [];
  if (whole === undefined) return 'not_a_sum';
  if (decimals.length > 2) return 'too_many_decimals';
  const sum = hundredths({ sum: `${whole.replaceAll(' ', '')}.${decimals}` });
  if (sum === 0n) return 'not_above_zero';
  return sum > asked ? 'higher_than_asked' : sum;
}
