import { endOfDay } from './lifetimes.ts';

export interface Money {
  /** A decimal with at most two places as written, such as `12.5`: never a float. */
  readonly sum: string;
  /** ISO 4217. */
  readonly currency: string;
}

/** A right's limit: at most `sum` in any `days` days or, if `days` is null, one payment of exactly `sum`. */
export interface Limit extends Money {
  readonly days: number | null;
  /** The largest single payment, at most `sum`; undefined for `sum`, and always without `days`. */
  readonly each?: string;
  /** The last day (UTC) of payments, such as `2027-06-30`; undefined for the token's end. */
  readonly until?: string;
  /** The application wrote none: `formatScope` omits it. */
  readonly isDefault?: true;
}

/** Of a granted scope without a written limit. */
export function defaultLimit(currency: string): Limit {
  return { days: 1, sum: '3000', currency, isDefault: true };
}

export function hundredths({ sum }: Pick<Money, 'sum'>): bigint {
  const [whole = '', fraction = ''] = sum.split('.');
  return BigInt(whole + fraction.padEnd(2, '0'));
}

/** With two decimals, or none for a whole sum. */
export function moneyOf(hundredths: bigint, currency: string): Money {
  const [whole, fraction] = [hundredths / 100n, hundredths % 100n];
  const sum = fraction === 0n ? `${whole}` : `${whole}.${String(fraction).padStart(2, '0')}`;
  return { sum, currency };
}

/** The most that a limit allows in any `days` days (at least 1), in hundredths: exact, see `worstCase.ts`. */
export function sumWithin(limit: Limit, days: number): bigint {
  const times = limit.days === null ? 1 : Math.ceil(days / limit.days);
  return hundredths(limit) * BigInt(times);
}

/**
 * True if no interval and no payment costs more under `other` than under `limit`, and none comes later: without `until` at any
 * time. It suffices to test `limit`'s period.
 */
export function covers(limit: Limit, other: Limit): boolean {
  return (
    lastDayOf(other) <= lastDayOf(limit) &&
    sumWithin(other, limit.days ?? 1) <= hundredths(limit) &&
    largestPayment(other) <= largestPayment(limit)
  );
}

/** In hundredths. */
export function largestPayment({ each, sum }: Limit): bigint {
  return hundredths({ sum: each ?? sum });
}

/** Without one a day after every token. */
export function lastDayOf({ until = '9999-12-31' }: Limit): string {
  return until;
}

/** True until the end of its last day. */
export function isOpen({ until }: Pick<Limit, 'until'>, now: Date): boolean {
  return until === undefined || now < endOfDay(until);
}

/** The longest period and the largest sum that an application may request for a right that spends, in the service's currency. */
export interface Ceiling {
  readonly days: number;
  /** An exact decimal, without zeros at its end. */
  readonly sum: string;
}

/** Parses `DAYS,SUM`, as in a scope; 5000.00 is 5000. @returns undefined for other text */
export function parseCeiling(text: string): Ceiling | undefined {
  const [, days, sum] = /^([1-9]\d{0,3}),((?:0|[1-9]\d{0,11})(?:\.\d{1,2})?)$/.exec(text) ?? [];
  if (days === undefined || sum === undefined || hundredths({ sum }) === 0n) return undefined;
  return { days: Number(days), sum: moneyOf(hundredths({ sum }), '').sum };
}

/** A one-time payment has only a sum to compare. */
export function exceeds(limit: Pick<Limit, 'days' | 'sum'>, ceiling: Ceiling): boolean {
  return (limit.days ?? 0) > ceiling.days || hundredths(limit) > hundredths(ceiling);
}
