import { hundredths, type Limit, moneyOf } from '../common/money.ts';
import type { Right } from '../scope/scope.ts';

// If the operator allows it, users grant a smaller sum for the same days, never a larger one or another one-time payment.

export type LoweringProblem =
  | 'not_a_sum'
  /** A third decimal would be lost: `1,000` may be a thousand or one. */
  | 'too_many_decimals'
  | 'not_above_zero'
  | 'higher_than_asked';

/** Those of `rights` with a sum for a period. `index`: the right's position, from 0. */
export function lowerableLimits(rights: readonly Right[]) {
  return rights.flatMap(({ limit }, index) => (typeof limit?.days === 'number' ? [{ index, limit }] : []));
}

/** Replaces requested sums with a user's lower ones, by index. @returns problems by index or, without any, the granted rights */
export function lowerLimits(rights: readonly Right[], typed: ReadonlyMap<number, string>) {
  const problems = new Map<number, LoweringProblem>();
  const granted = [...rights];
  for (const { index, limit } of lowerableLimits(rights)) {
    const [right, text] = [rights[index], typed.get(index)];
    if (right === undefined || text === undefined) continue;
    const sum = lowerSum(limit, text);
    if (typeof sum === 'string') problems.set(index, sum);
    else if (sum < hundredths(limit))
      granted[index] = { ...right, limit: { days: limit.days, ...moneyOf(sum, limit.currency) } };
  }
  if (problems.size > 0) return { problems };
  const isLower = granted.some((right, index) => right !== rights[index]);
  return { rights: granted, isLower, problems: null };
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

/** @returns hundredths, at most the requested ones */
function lowerSum(asked: Limit, text: string): bigint | LoweringProblem {
  const [, whole, decimals = ''] = SUM.exec(inLatinDigits(text).trim().replaceAll(/\s/g, ' ')) ?? [];
  if (whole === undefined) return 'not_a_sum';
  if (decimals.length > 2) return 'too_many_decimals';
  const sum = hundredths({ sum: `${whole.replaceAll(' ', '')}.${decimals}` });
  if (sum === 0n) return 'not_above_zero';
  return sum > hundredths(asked) ? 'higher_than_asked' : sum;
}
