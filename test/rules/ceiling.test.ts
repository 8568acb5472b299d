import { describe, expect, it } from 'vitest';
import { parseCeiling } from '../../src/rules/common/money.ts';
import { parseRequestedScope } from '../../src/rules/request/scopeRules.ts';
import { BANK } from './ownRightFiles.ts';
import { refusalOf } from './refusal.ts';
import { OFFER } from './rubles.ts';

const offer = { ...OFFER, catalogue: new Map([...OFFER.catalogue, ...BANK]) };
const read = (scope: string, most: string) =>
  parseRequestedScope(scope, offer, { allowedRights: null, most: parseCeiling(most) ?? null });

describe('scopes.md: the maximum that an application may request', () => {
  it.each<[string, object]>([
    ['30,5000', { days: 30, sum: '5000' }],
    ['9999,999999999999.99', { days: 9999, sum: '999999999999.99' }],
    ['1,0.01', { days: 1, sum: '0.01' }],
    ['30,5000.00', { days: 30, sum: '5000' }],
    ['30,5000.50', { days: 30, sum: '5000.50' }],
    ['30,500.0', { days: 30, sum: '500' }],
  ])('is parsed from %j as %o', (text, ceiling) => {
    expect(parseCeiling(text)).toEqual(ceiling);
  });

  it.each([
    ...['', '30', '0,5', ',5', '30,0', '30,0.00', '30,-5'],
    ...['30,5.001', '30,1e9', '10000,5', '30, 5', '030,5', '30,05'],
  ])('is invalid if written as %j', (text) => {
    expect(parseCeiling(text)).toBeUndefined();
  });

  it.each([
    ['30,5000', 'payment-shop.limit(30,5000) account-info payment-p2p.limit(7,10)'],
    ['30,5000', 'payment-shop.limit(1,4999.99)'],
    ['30,5000', 'payment-shop.limit(30,5000).each(5000).until(2029-06-30)'],
    ['30,5000', 'payment-shop.limit(,5000.00)'],
    ['30,5000.5', 'payment-shop.limit(30,5000.50)'],
    ['1,3000', 'payment-shop'], // the default limit: 3,000 in a day
    ['1,3000', 'transfer'],
  ])('of %s allows the scope %s', (most, scope) => {
    expect(read(scope, most).rights[0]).toBeDefined();
  });

  it.each([
    ['30,5000', 'payment-p2p', '31,1'],
    ['30,5000', 'payment.to-account("1")', '1,5000.01'],
    ['30,5000', 'payment-shop', ',5000.01'],
    ['30,5000.50', 'payment-shop', '30,5000.51'],
    ['9999,999999999999.98', 'payment-shop', '1,999999999999.99'], // as floats they would be equal in other places
    ['30,9', 'payment-shop', '30,10'], // and as texts the other way round
    ['1,2999.99', 'payment-shop', null],
    ['1,2999.99', 'transfer', null],
    ['30,5000', 'payment-shop', '31,6000', '.each(500).until(2027-06-30)'],
    ['30,5000', 'payment-shop', '30,5000.01', '.each(1)'],
  ])('of %s forbids %s with the limit %s, even as a second right', (most, right, limit, further = '') => {
    const scope = `account-info ${right}${limit === null ? '' : `.limit(${limit})${further}`}`;
    const { code, rule } = refusalOf(() => read(scope, most));
    const [name] = right.split('(');
    expect(code).toBe('invalid_scope');
    expect(rule).toBe(
      `scope: ${name} has ${limit ?? '1,3000'}, and the maximum of the application is ${most}`,
    );
  });
});
