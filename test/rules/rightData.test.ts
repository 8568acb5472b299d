import { describe, expect, it } from 'vitest';
import { limitsAmong, moneySources, type RightData, rightData } from '../../src/rules/scope/rightData.ts';
import { formatScope, type Right } from '../../src/rules/scope/scope.ts';
import { forAny, rights } from './arbitraries.ts';
import { parseScope } from './rubles.ts';

describe('the rights of a scope as data', () => {
  it.each([
    [
      'payment-shop.limit(7,5000)',
      { right: 'payment-shop', period_days: 7, amount: '5000', currency: 'RUB' },
    ],
    ['payment-p2p', { right: 'payment-p2p', period_days: 1, amount: '3000', currency: 'RUB' }],
    [
      'payment.to-pattern("337").limit(,10.50)',
      { right: 'payment.to-pattern', target: '337', amount: '10.50', currency: 'RUB' },
    ],
    [
      'payment.to-account("79","phone").limit(30,123456789012.34)',
      {
        right: 'payment.to-account',
        target: '79',
        target_type: 'phone',
        period_days: 30,
        amount: '123456789012.34',
        currency: 'RUB',
      },
    ],
  ])('%s', (scope, expected) => {
    const rights = rightData(parseScope(`account-info ${scope}`));
    expect(rights).toEqual([{ right: 'account-info' }, expected]);
    expect(limitsAmong(rights)).toEqual([expected]);
  });
});

describe('the source of money', () => {
  it.each([
    ['payment-shop', ['wallet']],
    ['payment-shop money-source("card","wallet")', ['card', 'wallet']],
    ['account-info money-source("card")', []],
    ['account-info', []],
  ])('%s: %j', (scope, sources) => {
    expect(moneySources(parseScope(scope))).toEqual(sources);
  });
});

describe('a resource server’s data', () => {
  /** The scope again, out of nothing but the data. */
  function written({ right, target, target_type, sources, period_days, amount }: RightData): string {
    const texts = (target === undefined ? (sources ?? []) : [target, target_type]).filter(
      (text) => text !== undefined,
    );
    const quoted = texts.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`);
    const limit = amount === undefined ? '' : `.limit(${period_days ?? ''},${amount})`;
    return right + (quoted.length > 0 ? `(${quoted.join(',')})` : '') + limit;
  }
  const withLimit = (right: Right) => ({
    ...right,
    limit: right.limit && { ...right.limit, isDefault: undefined },
  });

  it('need no parsing of the scope', () => {
    forAny(rights, (list) => {
      const scope = rightData(parseScope(formatScope(list)))
        .map(written)
        .join(' ');
      expect(parseScope(scope)).toEqual(list.map(withLimit));
    });
  });
});
