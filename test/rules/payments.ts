import fc from 'fast-check';
import { hundredths, type Limit } from '../../src/rules/common/money.ts';
import { rubles } from './rubles.ts';

// Payments of an application, and a payment API that keeps a limit by looking at every interval.

export interface Payment {
  /** In hours. */
  readonly at: number;
  /** In hundredths. */
  readonly amount: bigint;
}

/** Whether these payments, in any order, are within one limit. */
export function isWithin(limit: Limit, payments: readonly Payment[]): boolean {
  const sum = hundredths(limit);
  const hours = 24 * (limit.days ?? 0);
  if (limit.days === null) return payments.length < 2 && payments.every(({ amount }) => amount === sum);
  return payments.every(({ at }) => spentIn(payments, at, hours) <= sum);
}

/** The money spent in the interval of `hours` that begins at `from`, without its end. */
export function spentIn(payments: readonly Payment[], from: number, hours: number): bigint {
  return payments
    .filter(({ at }) => at >= from && at < from + hours)
    .reduce((sum, { amount }) => sum + amount, 0n);
}

/** The payments of `tried`, in order, that a payment API permits. */
export function letThrough(limit: Limit, tried: readonly Payment[]): Payment[] {
  const paid: Payment[] = [];
  for (const next of tried) if (isWithin(limit, [...paid, next])) paid.push(next);
  return paid;
}

/** The greediest application: at each hour of some days it spends all that is left. */
export function greedy(limit: Limit, days: number): Payment[] {
  const paid: Payment[] = [];
  const hours = 24 * (limit.days ?? days);
  for (let at = 0; at < 24 * days; at += 1) {
    const left = hundredths(limit) - spentIn(paid, at - hours + 1, hours);
    if (left > 0n) paid.push({ at, amount: left });
  }
  return paid;
}

/** Small limits, so that payments reach them. */
export const smallPeriod = fc
  .tuple(
    fc.integer({ min: 1, max: 7 }),
    fc.integer({ min: 1, max: 900 }).map((cents) => (cents / 100).toFixed(2)),
  )
  .map(([days, sum]) => rubles(days, sum));
export const smallLimit: fc.Arbitrary<Limit> = fc.oneof(
  smallPeriod,
  smallPeriod.map(({ sum }) => rubles(null, sum)),
);

/** Attempts in three weeks, many of them exactly some days apart. */
export const attempts: fc.Arbitrary<Payment[]> = fc.array(
  fc.record({
    at: fc.oneof(
      fc.integer({ min: 0, max: 21 }).map((day) => 24 * day),
      fc.integer({ min: 0, max: 504 }),
    ),
    amount: fc.bigInt({ min: 1n, max: 900n }),
  }),
  { maxLength: 60 },
);
