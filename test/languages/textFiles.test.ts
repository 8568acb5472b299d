import { describe, expect, it } from 'vitest';
import { FOLDERS, typesOfTexts } from '../../scripts/texts.mjs';
import { markLanguages } from '../../src/languages/foreign.ts';
import type { Texts } from '../../src/languages/languages.ts';
import { nestedTexts, parseTexts } from '../../src/languages/texts.ts';
import { FileError } from '../../src/rules/common/operatorFile.ts';
import { read } from '../docs/checkout.ts';

// The files of views/texts/: another language has what English has, and so have the calls in src.

const ENGLISH = {
  '@signIn': 'For translators.',
  signIn: { title: 'Sign in to {service}', '@button': 'On a button.', button: 'Sign in' },
  wait: '{minutes, plural, one {# minute} other {# minutes}}',
};
const { signIn, wait } = ENGLISH;
const english = parseTexts(JSON.stringify(ENGLISH), 'en');

describe('a file of another language', () => {
  const GERMAN = { signIn: { title: 'Bei {service} anmelden', button: 'Anmelden' }, wait };

  it.each([
    ['is equal', ENGLISH, []],
    ['has no comments', GERMAN, []],
    ['lacks a text', { ...GERMAN, wait: undefined }, [`wait is missing: “${wait}” in English`]],
    [
      'has another text',
      { ...GERMAN, signIn: { ...signIn, forgot: '?' } },
      ['signIn.forgot is not a text of Assent'],
    ],
    ['misspells a value', titled('{servise}'), ['signIn.title must be a text with {service}']],
    ['has HTML', titled('<b>{service}</b>'), ['signIn.title must not have <: texts are not HTML']],
    ['has an entity', titled('{service}&nbsp;'), ['signIn.title must not have &nbsp;: texts are not HTML']],
    ['has a number', { ...GERMAN, wait: 7 }, ['wait must be a text in quotation marks']],
    ['has a brace too many', titled('{service}}'), ['signIn.title has a } without a {']],
    ['has two of them', titled('{service}}}'), ['signIn.title has a } without a {']],
    ['has quoted ones', titled("{service} '}'"), []],
    ['has names in one', { 'signIn.title': '{service}', 'signIn.button': 'x', wait }, []],
    ['turns the direction', titled('\u202e{service}'), ['signIn.title must not have the character U+202E']],
    ['is empty', titled(' '), ['signIn.title must not be empty']],
    [
      'is long',
      titled(`{service} ${'x'.repeat(10_000)}`),
      [expect.stringMatching(/^signIn\.title is too long for its place: 10011 characters, at most \d\d$/)],
    ],
    [
      'takes a number for a word',
      titled('{service, number}'),
      ['signIn.title must be a text with {service}'],
    ],
    ['has a message that can’t be read', titled('{service'), ['signIn.title has a { that no } closes']],
    [
      'has a value more',
      { ...GERMAN, signIn: { ...signIn, button: '{service}' } },
      ['signIn.button must be a text with no values'],
    ],
    [
      'has an unknown plural',
      { ...GERMAN, wait: '{minutes, plural, few {#} other {#}}' },
      [expect.stringMatching(/^wait .*few/)],
    ],
    [
      'has a text in place of a group',
      { ...GERMAN, signIn: 'Sign in' },
      [
        'signIn is not a text of Assent',
        'signIn.title is missing: “Sign in to {service}” in English',
        'signIn.button is missing: “Sign in” in English',
      ],
    ],
    ['is a list', [], [expect.anything(), expect.anything(), expect.anything()]],
    ['falls back to another language', { ...GERMAN, fallback: 'ru' }, ['fallback must be "en"']],
    ['is not JSON', '{', [expect.stringContaining('is not JSON')]],
    ['has a name twice', '{"signIn":{"title":"1","title":"2"}}', ['has signIn.title twice']],
  ])('that %s has these faults', (_what, file, faults) => {
    const json = typeof file === 'string' ? file : JSON.stringify(file);
    expect(faultsOf(() => parseTexts(json, 'de', { english }))).toEqual(faults);
  });

  function titled(title: string) {
    return { ...GERMAN, signIn: { ...GERMAN.signIn, title } };
  }

  it.each(['english', 'en_US', 'x-klingon', 'EN', 'pt-br', 'qq'])('can’t be named %s', (tag) => {
    expect(faultsOf(() => parseTexts('{}', tag, { english }))).toEqual([
      expect.stringMatching(
        /^must be named after a language that CLDR knows, such as (en|en-US|pt-BR).json$/,
      ),
    ]);
  });

  it.each([
    ['ru', 'one few other', 'many'],
    ['ar', 'zero one two few other', 'many'],
    ['pt-BR', 'one other', 'many'],
  ])('in %s needs each plural category', (tag, cases, missing) => {
    const text = `{minutes, plural, ${cases
      .split(' ')
      .map((name) => `${name} {#}`)
      .join(' ')}}`;
    const file = JSON.stringify({ ...GERMAN, wait: text });
    expect(faultsOf(() => parseTexts(file, tag, { english }))).toEqual([
      `wait must have a case “${missing}” of {minutes}`,
    ]);
  });

  it('keeps the words and values of choices', () => {
    const model = parseTexts(JSON.stringify({ used: '{day, select, never {never} other {on {day}}}' }), 'en');
    const faultsOfText = (used: string) =>
      faultsOf(() => parseTexts(JSON.stringify({ used }), 'de', { english: model }));
    expect(faultsOfText('{day, select, never {nie} other {am {day}}}')).toEqual([]);
    for (const used of [
      '{day, select, nie {nie} other {am {day}}}',
      '{day, select, never {{day}} other {oft}}',
    ])
      expect(faultsOfText(used)).toEqual(['used must keep {day: never} {day}, in forms “other” too']);
  });

  it('with a fallback may lack texts, which are English, as what was not translated', () => {
    const file = JSON.stringify({ fallback: 'en', signIn: { title: signIn.title, button: 'Anmelden' } });
    const texts = nestedTexts(parseTexts(file, 'de', { english })) as Texts;
    expect(texts.signIn.button).toBe('Anmelden');
    const shown = markLanguages(`<p>${texts.signIn.title({ service: 'Pay' })}</p>`);
    expect(shown).toBe('<p><span lang="en" dir="ltr">Sign in to \u2068Pay\u2069</span></p>');
    expect(markLanguages(`<input title="${texts.signIn.title({ service: 'Pay' })}">`)).toBe(
      '<input title="Sign in to \u2068Pay\u2069">',
    );
  });
});

function faultsOf(read: () => unknown): readonly string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof FileError) return error.problems;
    throw error;
  }
  return [];
}

it.each([
  ['en', {}, 'At most', 'at most'],
  ['tr', {}, 'İzin', 'izin'],
  ['tr', {}, 'Isı', 'ısı'],
  ['de', {}, 'PIN', 'PIN'],
  ['de', { inSentence: 'asWritten' }, 'Kontostand', 'Kontostand'],
])('within a sentence of %s, with %j, “%s” becomes “%s”', (tag, choices, text, within) => {
  const { formats } = parseTexts(JSON.stringify({ ...choices, ...ENGLISH }), tag, { english });
  expect(formats.inSentence(text)).toBe(within);
});

it.each([
  ['inSentence', '"lower" or "asWritten"'],
  ['currency', '"code" or "symbol"'],
])('a file has a choice of %s that exists', (name, choices) => {
  const json = JSON.stringify({ ...ENGLISH, [name]: 'other' });
  expect(faultsOf(() => parseTexts(json, 'de', { english }))).toEqual([`${name} must be ${choices}`]);
});

describe('the types', () => {
  it.each(FOLDERS)('in %s are those of en.json: `node scripts/texts.mjs` writes them', (folder) => {
    expect(read(`${folder}/en.d.ts`)).toBe(typesOfTexts(folder));
  });

  it('refuse a call that English does not allow', () => {
    // `npm run types` fails if one of these lines compiles.
    const wrong = ({ signIn, limits }: Texts) => [
      // @ts-expect-error the text is misspelled
      signIn.tilte,
      // @ts-expect-error the value is missing
      signIn.title({}),
      // @ts-expect-error the value is misspelled
      signIn.title({ servise: 'Demo' }),
      // @ts-expect-error there is one more value
      signIn.title({ service: 'Demo', client: 'Demo' }),
      // @ts-expect-error the value is a number
      limits.perDays({ amount: 'RUB 3,000', days: '7' }),
    ];
    expect(wrong).toBeTypeOf('function');
  });
});
