import { describe, expect, it } from 'vitest';
import { parseCatalogue } from '../../src/languages/catalogue.ts';
import { BUILT_IN_OFFER, parseRequestedScope } from '../../src/rules/request/scopeRules.ts';
import { isRightName, LIFTABLE } from '../../src/rules/scope/rights.ts';
import { refusalOf } from '../rules/refusal.ts';
import { read } from './checkout.ts';

// The files of docs/integrate/scopes.md, as they are printed there, offer what the page says of them.

const [, ofTexts = '', ofRights = ''] = read('docs/integrate/scopes.md').split(
  /^## (?:Another catalogue|Rights of your own)$/m,
);
const filesIn = (section: string) =>
  [...section.matchAll(/^```json\n(.*?)^```$/gms)].map(([, file = '']) => parseCatalogue(file));
const [bank = new Map(), shop = new Map(), ...more] = filesIn(ofRights);

const ask = (catalogue: typeof bank, scope: string) =>
  parseRequestedScope(scope, { ...BUILT_IN_OFFER, catalogue }, { allowedRights: null, most: null }).scope;
const refusal = (catalogue: typeof bank, scope: string) => refusalOf(() => ask(catalogue, scope)).ruleId;

it('“Another catalogue” has one file, which offers two built-in rights', () => {
  const names = filesIn(ofTexts).map((file) => [...file.keys()]);
  expect(names).toEqual([['account-info', 'payment.to-pattern']]);
});

it('“Rights of your own” has two files', () => {
  expect([bank.size, shop.size, more.length]).toEqual([4, 2, 0]);
});

describe('the file of a bank', () => {
  it('completes an incomplete request', () => {
    expect(ask(bank, 'transfer')).toBe('transfer.limit(1,3000)');
    expect(ask(bank, 'transfer.to("41")')).toBe('transfer.to("41","account").limit(1,3000)');
  });

  it('grants a complete scope byte for byte', () => {
    const scope = 'account-info  statements:read transfer.to("79161234567", "phone").limit(7,500)';
    expect(ask(bank, scope)).toBe(scope);
  });

  it('contradicts a whole with its part only', () => {
    expect(refusal(bank, 'transfer transfer.to("41").limit(7,500)')).toBe('contradiction');
    expect(refusal(bank, 'payment-shop')).toBe('right_not_offered');
    expect(refusal(bank, 'points:read')).toBe('right_not_offered');
    expect(refusal(bank, 'statements:read.limit(7,500)')).toBe('unreadable_rights');
  });

  it('lifts the promises for what it reads, and all for what it spends, unless it names fewer', () => {
    expect(bank.get('statements:read')?.lifts).toEqual(['see_operations', 'see_balance']);
    expect(bank.get('transfer')?.lifts).toEqual(LIFTABLE);
    expect(bank.get('transfer.to')?.lifts).toEqual(['transfer']);
  });
});

it('the file of a shop names a shop, and lifts nothing', () => {
  expect(ask(shop, 'points:read points:spend("7").limit(30,500)')).toContain('points:spend("7")');
  expect(refusal(shop, 'points:spend')).toBe('unreadable_rights');
  expect(refusal(shop, 'points:spend("7","phone")')).toBe('unreadable_rights');
  expect([...shop.values()].flatMap(({ lifts }) => lifts)).toEqual([]);
});

it('the table lists the promises, and the grammar’s rule for names', () => {
  expect(ofRights).toContain(LIFTABLE.map((promise) => `\`${promise}\``).join(', '));
  expect(['a', 'a9:._-', 'a'.repeat(64)].filter(isRightName)).toHaveLength(3);
  expect(['9a', 'A', 'payment', 'a.limit', 'a'.repeat(65)].filter(isRightName)).toEqual([]);
});
