import { describe, expect, it } from 'vitest';
import { parseCatalogue } from '../../src/languages/catalogue.ts';
import { LIFTABLE } from '../../src/rules/scope/rights.ts';
import { catalogueFile, forAny } from './arbitraries.ts';
import { BANK, SHOP } from './ownRightFiles.ts';
import { mistakesIn } from './refusal.ts';

const mistakes = (file: unknown) => mistakesIn(file, parseCatalogue);
const own = (more: object = {}) => ({ text: 'See your points', ...more });
const many = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`right-${at}`, own({ text: `See no. ${at}` })]),
  );

const NAME_RULE =
  'must have 1 to 64 characters of a-z, 0-9 and :._-, begin with a letter, not end with .limit, and not be payment';
const NOT_BUILT_IN =
  'is not built in: it must be an object with a text, as docs/integrate/scopes.md#rights-of-your-own shows';
const SPENDING = { spends: true, names: 'shop' };

describe('a catalogue with custom rights', () => {
  it('accepts the bank and the shop of scopes.md', () => {
    expect([...BANK.keys()]).toEqual(['account-info', 'statements:read', 'transfer', 'transfer.to']);
    expect(BANK.get('transfer.to')).toEqual({
      text: { en: 'Transfer money to {target}', ru: 'Transfer money to {target}' },
      ...{ spends: true, names: 'account', lifts: ['transfer'], isPartOf: 'transfer' },
    });
    expect(SHOP.get('points:spend')).toMatchObject(SPENDING);
    expect([...SHOP.values()].flatMap(({ lifts }) => lifts)).toEqual([]);
    expect(SHOP.get('points:read')?.text.ru).toBe('Видеть ваши баллы');
  });

  it.each([
    ['of one that sees', {}, { spends: false, lifts: ['see_operations', 'see_balance'] }],
    ['of one that spends', { spends: true }, { lifts: LIFTABLE }],
    ['of one that says so', { spends: true, lifts: [] }, { lifts: [] }],
  ])('lifts all promises of its kind unless it names fewer: %s', (_which, more, kind) => {
    expect(parseCatalogue(JSON.stringify({ x: own(more) })).get('x')).toMatchObject(kind);
  });

  it.each(['constructor', 'valueof', 'a', 'a'.repeat(64), 'repo.write', 'read:user', 'x.limits'])(
    'accepts the name %s',
    (name) => {
      expect(mistakes({ [name]: own() })).toEqual([]);
    },
  );

  it.each([...['payment', 'a.limit', 'A', '7days', 'a b', 'a"', 'é', ''], 'a'.repeat(65)])(
    'refuses the name %j',
    (name) => {
      expect(mistakes({ [name]: own() })).toEqual([
        `${name.replaceAll(' ', '\\u{20}')} ${NAME_RULE}`.trimStart(),
      ]);
    },
  );

  it.each<[string, object, string | string[]]>([
    [
      'an empty text',
      { x: { text: '' } },
      ['x.text.en must have 1 to 300 characters', 'x.text.ru must have 1 to 300 characters'],
    ],
    ['no text', { x: {} }, 'x.text must be a text, or an object with a text for each of en and ru'],
    ['a text in one language', { x: { text: { en: 'See it' } } }, 'x.text.ru must be a text'],
    ['a sentence alone', { x: 'See your points' }, `x ${NOT_BUILT_IN}`],
    [
      'a built-in one made to spend nothing',
      { 'payment-shop': { spends: false } },
      ['payment-shop.en must be a text', 'payment-shop.ru must be a text', 'payment-shop.spends is unknown'],
    ],
    ['a word for spends', { x: own({ spends: 'yes' }) }, 'x.spends must be true or false'],
    [
      'a name of sources',
      { x: own({ names: 'sources' }) },
      'x.names must be "shop" or "account", or omitted',
    ],
    [
      'an unknown promise',
      { x: own({ lifts: ['spend'] }) },
      `x.lifts.0 must be one of ${LIFTABLE.join(', ')}`,
    ],
    ['promises without a list', { x: own({ lifts: 'transfer' }) }, 'x.lifts must be a list'],
    ['an unknown field', { x: own({ spend: true }) }, 'x.spend is unknown'],
    [
      '{target} of a right that names nothing',
      { x: own({ text: 'Pay {target}' }) },
      'x.text must not have {target}: the right has no target',
    ],
    ['a shop that the text leaves out', { x: own(SPENDING) }, 'x.text must have {target} once'],
    [
      'a shop that one language leaves out',
      { x: own({ ...SPENDING, text: { en: 'Pay {target}', ru: 'Платить' } }) },
      'x.text must have {target} once',
    ],
    [
      'a shop twice',
      { x: own({ ...SPENDING, text: '{target}, {target}' }) },
      'x.text must have {target} once',
    ],
    ['51 rights', many(51), 'may define at most 50 rights'],
    [
      'a part of nothing',
      { x: own({ part_of: 'y' }) },
      'x.part_of must be a right defined earlier in this file',
    ],
    [
      'a part of itself',
      { x: own({ part_of: 'x' }) },
      'x.part_of must be a right defined earlier in this file',
    ],
    [
      'a part of a built-in right that is not offered',
      { x: own({ part_of: 'payment-shop' }) },
      'x.part_of must be a right defined earlier in this file',
    ],
    [
      'a cycle of parts',
      { a: own({ part_of: 'b' }), b: own({ text: 'See it', part_of: 'a' }) },
      'a.part_of must be a right defined earlier in this file',
    ],
    [
      'twins',
      { a: own(), b: own({ text: 'See your роints' }) },
      'b.text looks like another right’s, “See your points”',
    ],
    [
      'a twin of a built-in right behind it',
      { a: own({ text: 'look!' }), 'account-info': 'Look' },
      'a.text looks like another right’s, “Look”',
    ],
  ])('refuses %s, with its field', (_what, file, problem) => {
    expect(mistakes(file)).toEqual([problem].flat());
  });

  it('refuses rights that look alike in one language', () => {
    const [a, b] = ['One', 'Another'].map((en) => own({ text: { en, ru: 'Видеть' } }));
    expect(mistakes({ a, b })).toEqual(['b.text looks like another right’s, “Видеть”']);
  });

  it('accepts 50 rights besides the built-in ones', () => {
    expect(mistakes({ 'account-info': 'Look', ...many(50) })).toEqual([]);
  });

  it('reports all mistakes at once', () => {
    const file = { 'a.limit': own(), x: { text: '', lifts: 1 }, y: own({ names: 'shop' }), 'payment-p2p': 7 };
    const lines = mistakes(file);
    expect(lines).toContain(`a.limit ${NAME_RULE}`);
    expect(lines.map((line) => line.split(' ', 1)[0])).toEqual([
      ...['payment-p2p', 'a.limit', 'x.text.en', 'x.text.ru', 'x.lifts', 'y.text'],
    ]);
  });

  it('accepts any file of the form in scopes.md, with its fields unchanged', () => {
    forAny(catalogueFile, (file) => {
      const catalogue = parseCatalogue(JSON.stringify(file));
      expect([...catalogue.keys()]).toEqual(Object.keys(file));
      for (const [name, given] of Object.entries(file)) {
        if (typeof given === 'string') continue;
        const { spends, names, isPartOf } = catalogue.get(name) ?? {};
        expect([spends, names, isPartOf]).toEqual([given.spends ?? false, given.names, given.part_of]);
      }
    });
  });
});
