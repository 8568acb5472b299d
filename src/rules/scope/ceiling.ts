import { hundredths, type Limit } from '../common/money.ts';

/** The longest period and the largest sum that an application may request for a right that spends, in the service's currency. */
export interface Ceiling {
  readonly days: number;
  /** An exact decimal, as the operator wrote it. */
  readonly sum: string;
}

/** Parses `DAYS,SUM`, as in a scope. @returns undefined for other text */
export function parseCeiling(text: string): Ceiling | undefined {
  const [, days, sum] = /^([1-9]\d{0,3}),((?:0|[1-9]\d{0,11})(?:\.\d{1,2})?)$/.exec(text) ?? [];
  if (days === undefined || sum === undefined || hundredths({ sum }) === 0n) return undefined;
  return { days: Number(days), sum };
}

/** A one-time payment has only a sum to compare. */
export function exceeds(limit: Pick<Limit, 'days' | 'sum'>, ceiling: Ceiling): boolean {
  return (limit.days ?? 0) > ceiling.days || hundredths(limit) > hundredths(ceiling);
}
