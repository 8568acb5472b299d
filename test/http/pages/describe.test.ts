import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUILT_IN_CATALOGUE, parseCatalogue } from '../../../src/languages/catalogue.ts';
import { TEXTS } from '../../../src/languages/languages.ts';
import { type DescribedRight, describeRights } from '../../../src/languages/rights.ts';
import { BUILT_IN_BRAND } from '../../../src/rules/face/brand.ts';
import { NO_TARGET_NAMES } from '../../../src/rules/face/directory.ts';
import { hasSpendingRight } from '../../../src/rules/scope/scope.ts';
import { rights } from '../../rules/arbitraries.ts';
import { parseScope } from '../../rules/rubles.ts';
import { languageOf } from '../../support/languages.ts';

const BUILT_IN = {
  catalogue: BUILT_IN_CATALOGUE,
  directory: NO_TARGET_NAMES,
  timeZone: 'UTC',
  brand: BUILT_IN_BRAND,
  provider: null,
  furtherLimits: [],
  language: languageOf('en'),
  texts: TEXTS.en,
} as const;

/** The sentence as a page shows it, the target in quotes. */
const titleOf = ({ before, target, after }: DescribedRight) =>
  before + (target === null ? '' : `“${target.join(' ')}”`) + after;
const titlesOf = (scope: string, catalogue = BUILT_IN.catalogue) =>
  describeRights(parseScope(scope), { ...BUILT_IN, catalogue }).map(titleOf);

describe('contract 1.2: the description of rights and payment limits', () => {
  it.each([
    ['"79161234567","phone"', 'phone number “+7 916 123 45 67”'],
    ['"4100112345678901"', 'account “4100 1123 4567 8901”'],
  ])('shows the account %s as the %s', (account, shown) => {
    expect(titlesOf(`payment.to-account(${account})`)[0]).toBe(`Transfer money to the ${shown}`);
  });

  it.each(['$&', '$1', "$'", '$`', '$$', '{target}', '<b>'])('shows a target unchanged: %s', (target) => {
    expect(titlesOf(`payment.to-pattern("${target}")`)[0]).toBe(`Pay the shop “${target}”`);
    expect(titlesOf(`payment.to-account("${target}")`)[0]).toBe(`Transfer money to the account “${target}”`);
  });

  it('uses the operator’s catalogue, or the built-in text for a right missing there', () => {
    const catalogue = parseCatalogue(JSON.stringify({ 'payment.to-pattern': '{target}: pay there' }));
    const shown = ['“337”: pay there', 'See your account number, balance and status'];
    expect(titlesOf('payment.to-pattern("337") account-info', catalogue).slice(0, 2)).toEqual(shown);
  });

  it('shows every right, with a limit only for payment rights', () => {
    fc.assert(
      fc.property(rights, (list) => {
        const described = describeRights(list, BUILT_IN);
        const source = hasSpendingRight(list) && !list.some((right) => right.name === 'money-source') ? 1 : 0;
        expect(described).toHaveLength(list.length + source);
        list.forEach((right, index) => {
          expect(described[index]?.before).not.toBe('');
          expect(described[index]?.limit !== null).toBe(hasSpendingRight([right]));
        });
      }),
    );
  });
});
