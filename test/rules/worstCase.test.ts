import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tokenLifetimeFrom } from '../../src/rules/common/lifetimes.ts';
import { hundredths, type Limit } from '../../src/rules/common/money.ts';
import type { Right } from '../../src/rules/scope/scope.ts';
import { mostWithin, spendingDays, worstCase } from '../../src/rules/spending/worstCase.ts';
import { forAny } from './arbitraries.ts';
import { attempts, greedy, isWithin, letThrough, smallLimit, spentIn } from './payments.ts';
import { parseScope, rubles } from './rubles.ts';

const limitsToRights = (limits: readonly Limit[]): Right[] =>
  limits.map((limit, index) => ({ name: 'payment.to-pattern', target: `${index}`, limit }));
const someLimits = fc.array(smallLimit, { minLength: 1, maxLength: 4 });

describe('the maximum cost of a scope', () => {
  it.each([
    ['account-info operation-history money-source("card")', null],
    ['payment-shop.limit(30,45000)', rubles(30, '45000')],
    ['payment-shop', rubles(1, '3000')],
    ['account-info payment-shop.limit(,10.5) money-source("card")', rubles(null, '10.50')],
    ['payment.to-pattern("1") payment.to-pattern("2")', rubles(1, '6000')],
    ['payment-shop.limit(1,0.01) payment-p2p.limit(1,0.99)', rubles(1, '1')],
    ['payment-shop.limit(1,0.1) payment-p2p.limit(1,0.2)', rubles(1, '0.30')],
    ['payment-shop payment-p2p.limit(30,45000)', rubles(30, '135000')],
    ['payment-shop.limit(7,700) payment-p2p.limit(10,1000)', rubles(10, '2400')],
    [
      'payment-shop.limit(1,999999999999.99) payment-p2p.limit(9999,0.01)',
      rubles(9999, '9998999999999900.02'),
    ],
    // earlier grants, which no request may have now
    ['payment.to-pattern("1").limit(,5) payment.to-pattern("2").limit(,7)', rubles(null, '12')],
    ['payment-shop.limit(,5) payment-p2p.limit(2,7)', rubles(2, '12')],
  ])('is a sum per period, or null without a payment right: %s costs %o', (scope, expected) => {
    expect(worstCase(parseScope(scope))).toEqual(expected);
  });

  it('is never exceeded by payments that a payment API permits, whenever the period begins', () => {
    forAny(someLimits, fc.array(attempts, { minLength: 4, maxLength: 4 }), (limits, tried) => {
      const most = worstCase(limitsToRights(limits));
      const paid = limits.flatMap((limit, index) => letThrough(limit, tried[index] ?? []));
      if (most === null) throw new Error('rights that spend cost something');
      const hours = most.days === null ? 10_000 : 24 * most.days;
      for (const { at } of paid) expect(spentIn(paid, at, hours) <= hundredths(most)).toBe(true);
    });
  });

  it('equals the most that an application can spend, exact to the hundredth', () => {
    forAny(someLimits, (limits) => {
      const most = worstCase(limitsToRights(limits));
      const days = most?.days ?? 1;
      const paid = limits.flatMap((limit) => {
        const own = greedy(limit, days);
        expect(isWithin(limit, own)).toBe(true);
        return own;
      });
      expect(spentIn(paid, 0, 24 * days)).toBe(most && hundredths(most));
    });
  });
});

describe('the maximum cost of rights that end before their token', () => {
  // Until 29 November 2029: 1,096 days.
  const lifetime = tokenLifetimeFrom(new Date('2026-11-29T13:00:00Z'));
  const costOf = (scope: string) => {
    const rights = parseScope(scope);
    const { daysLeft, lastDay } = spendingDays(rights, lifetime);
    const worst = worstCase(rights, lifetime);
    return [worst?.days, worst?.sum, mostWithin(rights, daysLeft, lifetime).sum, daysLeft, lastDay];
  };

  it.each([
    ['payment-shop.limit(7,5000)', [7, '5000', '785000', 1_096, null]],
    ['payment-shop.limit(7,5000).until(2029-11-29)', [7, '5000', '785000', 1_096, '2029-11-29']],
    // The rest of today, and 67 days.
    ['payment-shop.limit(7,5000).until(2027-02-04)', [7, '5000', '50000', 68, '2027-02-04']],
    ['payment-shop.limit(7,5000).until(2026-11-29)', [7, '5000', '5000', 1, '2026-11-29']],
    // The user confirms what the page has shown just before midnight.
    ['payment-shop.limit(7,5000).until(2026-11-28)', [7, '5000', '5000', 1, '2026-11-28']],
    ['payment-shop.limit(,300).until(2026-12-31)', [null, '300', '300', 33, '2026-12-31']],
    [
      'payment-shop.limit(30,45000) payment-p2p.limit(1,1000).until(2026-12-08)',
      [30, '55000', '1675000', 1_096, null],
    ],
    [
      'payment-shop.limit(30,45000).until(2026-12-31) payment-p2p.limit(1,1000).until(2026-12-08)',
      [30, '55000', '100000', 33, '2026-12-31'],
    ],
  ])('%s counts the days that are left: %j', (scope, expected) => {
    expect(costOf(scope)).toEqual(expected);
  });
});

describe('the maximum cost within a number of days', () => {
  it('equals the most that an application can spend, and is never exceeded by permitted payments', () => {
    forAny(smallLimit, fc.integer({ min: 1, max: 30 }), attempts, (limit, days, tried) => {
      const most = hundredths(mostWithin(limitsToRights([limit]), days));
      const hours = 24 * days;
      if (limit.days !== null) expect(spentIn(greedy(limit, days), 0, hours)).toBe(most);
      const paid = letThrough(limit, tried);
      for (const { at } of paid) expect(spentIn(paid, at, hours) <= most).toBe(true);
    });
  });
});
