import type { PaymentLimit } from './scope.ts';

/** The longest period and the largest sum that an application may ask of a right that spends. */
export interface Ceiling {
  readonly days: number;
  /** An exact decimal, as the operator wrote it. */
  readonly sum: string;
}

/** Parses `DAYS,SUM`, written as in a scope. @returns undefined for anything else */
export function parseCeiling(text: string): Ceiling | undefined {
  const [, days, sum] = /^([1-9]\d{0,3}),((?:0|[1-9]\d{0,11})(?:\.\d{1,2})?)$/.exec(text) ?? [];
  if (days === undefined || sum === undefined || hundredths(sum) === 0n) return undefined;
  return { days: Number(days), sum };
}

/** Whether a limit asks for more than the ceiling; a one-time payment has only a sum. */
export function exceeds({ days, sum }: PaymentLimit, ceiling: Ceiling): boolean {
  return (days ?? 0) > ceiling.days || hundredths(sum) > hundredths(ceiling.sum);
}

/** A sum with at most two decimal places, exactly. */
export function hundredths(sum: string): bigint {
  const [whole = '', fraction = ''] = sum.split('.');
  return BigInt(whole + fraction.padEnd(2, '0'));
}

/** The way back: `12.5` as `12.50`, and whole sums without decimals. */
export function decimalOf(hundredths: bigint): string {
  const [whole, fraction] = [hundredths / 100n, hundredths % 100n];
  return fraction === 0n ? `${whole}` : `${whole}.${String(fraction).padStart(2, '0')}`;
}
