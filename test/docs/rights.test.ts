import { expect, it } from 'vitest';
import { parseCatalogue } from '../../src/languages/catalogue.ts';
import { LIFTABLE } from '../../src/rules/scope/rights.ts';
import { read } from './checkout.ts';

// The files of docs/integrate/scopes.md, as they are printed there, offer what the page says of them.

const [, ofTexts = '', ofRights = ''] = read('docs/integrate/scopes.md').split(
  /^## (?:Another catalogue|Rights of your own)$/m,
);
const filesIn = (section: string) =>
  [...section.matchAll(/^```json\n(.*?)^```$/gms)].map(([, file = '']) => parseCatalogue(file));
const [bank = new Map(), shop = new Map(), ...more] = filesIn(ofRights);

it('“Another catalogue” has one file, which offers two built-in rights', () => {
  const names = filesIn(ofTexts).map((file) => [...file.keys()]);
  expect(names).toEqual([['account-info', 'payment.to-pattern']]);
});

it('“Rights of your own” has two files', () => {
  expect([bank.size, shop.size, more.length]).toEqual([4, 2, 0]);
});

it('the table lists the promises', () => {
  expect(ofRights).toContain(LIFTABLE.map((promise) => `\`${promise}\``).join(', '));
});
