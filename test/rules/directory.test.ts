import { describe, expect, it } from 'vitest';
import { NO_TARGET_NAMES, nameOfTarget, parseTargetNames } from '../../src/rules/face/directory.ts';
import { mistakesIn } from './refusal.ts';
import { parseScope } from './rubles.ts';

const FILE = {
  shops: { '337': 'Book World', '41001': { en: 'Trams', ru: 'Трамваи' } },
  accounts: { '41001': 'Anna Petrova' },
};
const directory = parseTargetNames(JSON.stringify(FILE));

const problems = (file: unknown) => mistakesIn(file, parseTargetNames);

describe('a file of payees’ names', () => {
  it('keeps the names of shops and of accounts separate', () => {
    expect(directory.shop.get('337')).toEqual({ '': 'Book World' });
    expect(directory.shop.get('41001')).toEqual({ en: 'Trams', ru: 'Трамваи' });
    expect(directory.account.get('41001')).toEqual({ '': 'Anna Petrova' });
    expect(directory.account.get('337')).toBeUndefined();
  });

  it.each(['0337', '337 ', '３３７', '', 'constructor', '__proto__'])('has no name for the shop %j', (id) => {
    for (const { shop } of [directory, NO_TARGET_NAMES]) expect(shop.get(id)).toBeUndefined();
  });

  it.each([
    ['payment.to-pattern("337")', 'Book World'],
    ['payment.to-account("41001")', 'Anna Petrova'],
    ['payment.to-account("41001","phone")', undefined],
    ['payment.to-account("41001","email")', undefined],
    ['payment.to-account("337")', undefined],
    ['account-info', undefined],
  ])('has the name of the payee of %s: %s', (scope, name) => {
    expect(parseScope(scope).map((right) => nameOfTarget(directory, right)?.[''])).toEqual([name]);
  });

  it('is refused with a line for each mistake', () => {
    const wrong = {
      shops: { '': 'x', '1\u200b\n': 'x', '2': 'x\u200by', '3': 7, '4': { en: 'x', ru: 7 } },
      accounts: [],
      people: {},
    };
    expect(problems(wrong).toSorted()).toEqual([
      'accounts must be an object that maps numbers to names',
      'people is unknown',
      expect.stringMatching(/^shops can't be in a scope/),
      expect.stringMatching(/^shops\.1\\u\{200b\}\\u\{a\} can't be in a scope: it must have 1 to 128 /),
      'shops.2 has U+200B at character 2: only visible characters are allowed',
      'shops.3 must be a string, or an object with a string for each language, such as en',
      'shops.4.ru must be a string',
    ]);
    expect(problems([])).toEqual(['must be an object with shops and accounts']);
    expect(problems('{"shops"')).toEqual([expect.stringMatching(/^is not JSON/)]);
  });

  it('reports the first of many mistakes, and the number of the others', () => {
    const shops = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [n, '']));
    const said = problems({ shops });
    expect(said).toHaveLength(21);
    expect(said.at(-1)).toBe('has 980 more mistakes');
  });
});
