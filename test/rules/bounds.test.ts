import { describe, expect, it } from 'vitest';
import { moneySources } from '../../src/rules/scope/rightData.ts';
import { BUILT_IN_RIGHTS, type BuiltInName } from '../../src/rules/scope/rights.ts';
import { type Right, spends } from '../../src/rules/scope/scope.ts';
import { type Bound, boundsOf } from '../../src/rules/spending/bounds.ts';
import { forAny, rights } from './arbitraries.ts';
import { parseScope } from './rubles.ts';

const notAsked = (scope: string) =>
  boundsOf(parseScope(scope), BUILT_IN_RIGHTS).filter(
    (bound) => !['spend', 'spend_more', 'see_passwords', 'open_to_others'].includes(bound),
  );

describe('the list of what an application can’t do', () => {
  it.each([
    ['account-info', ['see_operations']],
    ['account-info operation-history', []],
    ['operation-details', ['see_balance']],
    ['incoming-transfers', ['see_balance']],
    ['payment-shop', ['transfer', 'take_from_card']],
    ['payment-shop money-source("card")', ['transfer', 'take_from_wallet']],
    ['payment-p2p', ['take_from_card', 'see_operations']],
    ['payment-p2p money-source("wallet","card")', ['see_operations', 'see_balance']],
    ['payment.to-pattern("1")', ['pay_others', 'take_from_card']],
    [
      'account-info payment.to-account("1").limit(,5) money-source("card")',
      ['pay_others', 'take_from_wallet'],
    ],
    ['payment-shop payment.to-account("1")', ['take_from_card', 'see_operations']],
    ['payment-shop payment-p2p money-source("wallet","card") account-info operation-history', []],
  ])('for %s: %j', (scope, bounds) => {
    expect(notAsked(scope)).toEqual(bounds);
  });

  it('for any rights has its limits first, passwords and other applications last, and two rights it did not request', () => {
    forAny(rights, (list) => {
      const bounds = boundsOf(list, BUILT_IN_RIGHTS);
      expect(bounds[0]).toBe(spends(list) ? 'spend_more' : 'spend');
      expect(bounds.slice(-2)).toEqual(['see_passwords', 'open_to_others']);
      expect(bounds.length).toBeLessThanOrEqual(5);
      expect(new Set(bounds).size).toBe(bounds.length);
    });
  });

  it('has nothing that any of its rights allows', () => {
    forAny(rights, (list) => {
      const allowed = list.flatMap((right) => allows(right, list));
      expect(boundsOf(list, BUILT_IN_RIGHTS).filter((bound) => allowed.includes(bound))).toEqual([]);
    });
  });
});

/** What a right lets an application do, by docs/integrate/scopes.md. */
function allows(right: Right, list: readonly Right[]): Bound[] {
  switch (right.name as BuiltInName) {
    case 'account-info':
      return ['see_balance'];
    case 'operation-history':
    case 'operation-details':
    case 'incoming-transfers':
      return ['see_operations'];
    case 'payment-shop':
      return ['spend', 'pay_others', ...takes(list)];
    case 'payment-p2p':
      return ['spend', 'pay_others', 'transfer', ...takes(list)];
    case 'payment.to-pattern':
      return ['spend', ...takes(list)];
    case 'payment.to-account':
      return ['spend', 'transfer', ...takes(list)];
    case 'money-source':
      return [];
  }
}

function takes(list: readonly Right[]): Bound[] {
  const bounds = { wallet: 'take_from_wallet', card: 'take_from_card' } as const;
  return moneySources(list).map((source) => bounds[source]);
}
