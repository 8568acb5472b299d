import { describe, expect, it } from 'vitest';
import { parseCatalogue } from '../../src/languages/catalogue.ts';
import { LIFTABLE } from '../../src/rules/scope/rights.ts';
import { find, read } from '../docs/checkout.ts';
import { BANK, SHOP } from './ownRightFiles.ts';
import { mistakesIn } from './refusal.ts';

const mistakes = (file: unknown) => mistakesIn(file, parseCatalogue);
const own = (more: object = {}) => ({ text: 'See your points', ...more });
const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`right-${at}`, own({ text: `No. ${at}` })]));

const NAME_RULE =
  'must have 1 to 64 characters of a-z, 0-9 and :._-, begin with a letter, not end with .limit, and not be payment';
const NOT_BUILT_IN =
  'is not built in: it must be an object with a text, as docs/integrate/scopes.md#rights-of-your-own shows';
const EARLIER = 'part_of must be a right defined earlier in this file';
const ONCE = 'must have {target} once';
const TWIN = 'text looks like another right’s';
const alike = (en: string) => own({ text: { en, ru: 'Видеть' } });
const SPENDING = { spends: true, names: 'shop' };

describe('a catalogue with custom rights', () => {
  it('accepts the example files in scopes.md, whose table has all values of `lifts`', () => {
    const files = find('docs/integrate/scopes.md', /^```json\n(.*?)^```$/gms);
    const builtIn = ['account-info', 'payment.to-pattern', 'money-source'];
    const names = files.map((file) => [...parseCatalogue(file).keys()]);
    expect(names).toEqual([builtIn, [...BANK.keys()], [...SHOP.keys()]]);
    expect(read('docs/integrate/scopes.md')).toContain(LIFTABLE.map((bound) => `\`${bound}\``).join(', '));
    expect(BANK.get('transfer.to')).toMatchObject({ spends: true, names: 'account', isPartOf: 'transfer' });
    expect(SHOP.get('points:spend')).toMatchObject(SPENDING);
    expect(SHOP.get('points:read')?.text?.ru).toBe('Видеть ваши баллы');
  });

  it.each([
    ['a right that only reads', {}, { spends: false, lifts: ['see_operations', 'see_balance'] }],
    ['a payment right', { spends: true }, { lifts: LIFTABLE }],
    ['a payment right with an empty list', { spends: true, lifts: [] }, { lifts: [] }],
  ])('takes `lifts` from the file, or else from the kind of the right: %s', (_which, more, kind) => {
    expect(parseCatalogue(JSON.stringify({ x: own(more) })).get('x')).toMatchObject(kind);
  });

  it.each(['constructor', 'valueof', 'a', 'a'.repeat(64), 'repo.write', 'x.limits'])(
    'accepts a right with the name %s',
    (name) => {
      expect(mistakes({ [name]: own() })).toEqual([]);
    },
  );

  it.each(['payment', 'a.limit', 'A', '7days', 'a b', 'a"', 'é', '', 'a'.repeat(65)])(
    'refuses a right with the name %j',
    (name) => {
      const shown = name.replaceAll(' ', '\\u{20}');
      expect(mistakes({ [name]: own() })).toEqual([`${shown} ${NAME_RULE}`.trimStart()]);
    },
  );

  it.each<[object, string[]]>([
    [{}, ['x.text must be a string, or an object with a string for each language, such as en']],
    [{ text: '' }, ['x.text must have 1 to 300 characters']],
    [{ text: {} }, ['x.text must have a string for at least one language']],
    [{ text: { en: 'See it', ru: 7 } }, ['x.text.ru must be a string']],
    [own({ spends: 'yes' }), ['x.spends must be true or false']],
    [own({ names: 'sources' }), ['x.names must be "shop" or "account", or omitted']],
    [own({ lifts: ['spend'] }), [`x.lifts.0 must be one of ${LIFTABLE.join(', ')}`]],
    [own({ lifts: 'transfer' }), ['x.lifts must be a list']],
    [own({ spend: true }), ['x.spend is unknown']],
    [own({ text: 'Pay {target}' }), ['x.text must not have {target}: the right has no target']],
    [own(SPENDING), [`x.text ${ONCE}`]],
    [own({ ...SPENDING, text: { en: 'Pay {target}', ru: 'Платить' } }), [`x.text ${ONCE}`]],
    [own({ ...SPENDING, text: '{target}, {target}' }), [`x.text ${ONCE}`]],
    ...['y', 'x', 'payment-shop'].map((part_of): [object, string[]] => [own({ part_of }), [`x.${EARLIER}`]]),
  ])('refuses a right, and reports the invalid field: %j', (x, problems) => {
    expect(mistakes({ x })).toEqual(problems);
  });

  it.each<[string, object, string[]]>([
    ['a custom right that is only a text', { x: 'See your points' }, [`x ${NOT_BUILT_IN}`]],
    ['a built-in text without {target}', { 'payment.to-account': 'Pay' }, [`payment.to-account ${ONCE}`]],
    [
      'a built-in right made to spend nothing',
      { 'payment-shop': { spends: false } },
      ['payment-shop.spends is not a language tag, such as en or pt-BR'],
    ],
    [
      'words for one of the two sources of money',
      { 'money-source': { text: 'Paid from {target}', sources: { wallet: 'your account' } } },
      [
        'money-source.sources.card must be a string, or an object with a string for each language, such as en',
      ],
    ],
    ['51 rights', many(51), ['may define at most 50 rights']],
    ['a part_of cycle', { a: own({ part_of: 'b' }), b: own({ text: 'It', part_of: 'a' }) }, [`a.${EARLIER}`]],
    ['similar texts', { a: own(), b: own({ text: 'See your роints' }) }, [`b.${TWIN}, “See your points”`]],
    ['similar texts in one language', { a: alike('One'), b: alike('Two') }, [`b.${TWIN}, “Видеть”`]],
    ['a reused built-in text', { a: own({ text: 'look!' }), 'account-info': 'Look' }, [`a.${TWIN}, “Look”`]],
  ])('refuses a file, and reports each mistake: %s', (_what, file, problems) => {
    expect(mistakes(file)).toEqual(problems);
  });

  it('accepts the most custom rights in addition to built-in rights', () => {
    expect(mistakes({ 'account-info': 'Look', ...many(50) })).toEqual([]);
  });
});
