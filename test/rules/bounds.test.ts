import { describe, expect, it } from 'vitest';
import { BUILT_IN_RIGHTS } from '../../src/rules/scope/rights.ts';
import { hasSpendingRight } from '../../src/rules/scope/scope.ts';
import { listForbiddenActions } from '../../src/rules/spending/bounds.ts';
import { forAny, rights } from './arbitraries.ts';
import { parseScope } from './rubles.ts';

const notAsked = (scope: string) =>
  listForbiddenActions(parseScope(scope), BUILT_IN_RIGHTS).filter(
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
  ])('has these optional entries for the scope “%s”: %j', (scope, bounds) => {
    expect(notAsked(scope)).toEqual(bounds);
  });

  it('begins with spending, ends with passwords and other applications, and is short', () => {
    forAny(rights, (list) => {
      const bounds = listForbiddenActions(list, BUILT_IN_RIGHTS);
      expect(bounds[0]).toBe(hasSpendingRight(list) ? 'spend_more' : 'spend');
      expect(bounds.slice(-2)).toEqual(['see_passwords', 'open_to_others']);
      expect(bounds.length).toBeLessThanOrEqual(5);
      expect(new Set(bounds).size).toBe(bounds.length);
    });
  });
});
