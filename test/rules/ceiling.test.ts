import { describe, expect, it } from 'vitest';
import { exceeds, parseCeiling } from '../../src/rules/common/money.ts';
import { parseRequestedScope } from '../../src/rules/request/scopeRules.ts';
import { refusalOf } from './refusal.ts';
import { OFFER } from './rubles.ts';

describe('scopes.md: the maximum that an application may request', () => {
  it.each([
    ['30,5000', { days: 30, sum: '5000' }],
    ['9999,999999999999.99', { days: 9999, sum: '999999999999.99' }],
    ['1,0.01', { days: 1, sum: '0.01' }],
  ])('reads %s', (text, ceiling) => {
    expect(parseCeiling(text)).toEqual(ceiling);
  });

  it.each([
    ...['', '30', '0,5', ',5', '30,0', '30,0.00', '30,-5'],
    ...['30,5.001', '30,1e9', '10000,5', '30, 5', '030,5', '30,05'],
  ])('does not read %j', (text) => {
    expect(parseCeiling(text)).toBeUndefined();
  });

  it.each([
    ['30,5000', 30, '5000', false],
    ['30,5000', 1, '4999.99', false],
    ['30,5000', 31, '1', true],
    ['30,5000', 1, '5000.01', true],
    ['30,5000', null, '5000.00', false],
    ['30,5000', null, '5000.01', true],
    ['30,5000.5', 30, '5000.50', false],
    ['30,5000.5', 30, '5000.51', true],
    ['9999,999999999999.98', 1, '999999999999.99', true], // as floats they would be equal in other places
    ['30,9', 30, '10', true], // and as texts the other way round
  ] as const)('of %s, exceeded by %s days and %s: %s', (most, days, sum, tooMuch) => {
    const ceiling = parseCeiling(most);
    if (ceiling === undefined) throw new Error('no ceiling');
    expect(exceeds({ days, sum }, ceiling)).toBe(tooMuch);
  });

  it('applies to each right that spends, by its effective limit', () => {
    const read = (scope: string, most: string) =>
      parseRequestedScope(scope, OFFER, { allowedRights: null, most: parseCeiling(most) ?? null }).rights;
    expect(read('account-info payment-shop.limit(30,5000) payment-p2p.limit(7,10)', '30,5000')).toHaveLength(
      3,
    );
    expect(read('payment-shop', '1,3000')).toHaveLength(1); // none was written: 3,000 in a day
    for (const scope of [
      'account-info payment-shop.limit(7,5) payment-p2p.limit(31,5)',
      'payment.to-account("1").limit(30,5000.01)',
      'payment-shop.limit(,5000.01)',
    ]) {
      const refusal = refusalOf(() => read(scope, '30,5000'));
      expect([refusal.code, refusal.rule]).toEqual([
        'invalid_scope',
        expect.stringContaining('the maximum of the application is 30,5000'),
      ]);
    }
    expect(refusalOf(() => read('payment-shop', '1,2999.99')).rule).toContain('payment-shop has 1,3000');
  });
});
