import { describe, expect, it } from 'vitest';
import { typesOfTexts } from '../../scripts/texts.mjs';
import { TEXTS, type Texts } from '../../src/languages/languages.ts';
import { parseTexts, readTexts } from '../../src/languages/texts.ts';
import { read } from '../docs/checkout.ts';
import { mistakesIn } from '../rules/refusal.ts';

// The files of views/texts/: another language has what English has, and so have the calls in src.

const { formats } = TEXTS.en;

const ENGLISH = {
  '@signIn': 'For translators.',
  signIn: { title: 'Sign in to {service}', '@button': 'On a button.', button: 'Sign in' },
  wait: '{minutes, plural, one {# minute} other {# minutes}}',
};

describe('a file of another language', () => {
  const model = parseTexts(JSON.stringify(ENGLISH), formats);
  const { signIn } = ENGLISH;

  it.each([
    ['is equal', ENGLISH, []],
    ['has no comments', { ...ENGLISH, '@signIn': undefined }, []],
    ['lacks a text', { ...ENGLISH, wait: undefined }, ['wait must be a text with {minutes, number}']],
    [
      'has another text',
      { ...ENGLISH, signIn: { ...signIn, forgot: '?' } },
      ['signIn.forgot is not in en.json'],
    ],
    [
      'misspells a value',
      { ...ENGLISH, signIn: { ...signIn, title: '{servise}' } },
      ['signIn.title must be a text with {service}'],
    ],
    [
      'has a value more',
      { ...ENGLISH, signIn: { ...signIn, button: '{service}' } },
      ['signIn.button must be a text with no values'],
    ],
    [
      'takes a number for a word',
      { ...ENGLISH, wait: '{minutes}' },
      ['wait must be a text with {minutes, number}'],
    ],
    [
      'has a text in place of a group',
      { ...ENGLISH, signIn: 'Sign in' },
      [
        'signIn.title must be a text with {service}',
        'signIn.button must be a text with no values',
        'signIn is not in en.json',
      ],
    ],
    [
      'has a message that can’t be read',
      { ...ENGLISH, signIn: { ...signIn, title: '{service' } },
      ['signIn.title Unexpected message end at line 1 col 9:'],
    ],
    [
      'has a list',
      [],
      ['signIn.title', 'signIn.button', 'wait'].map((path) => expect.stringContaining(path)),
    ],
    ['is not JSON', '{', [expect.stringContaining('is not JSON')]],
  ])('that %s has these faults', (_what, file, faults) => {
    expect(mistakesIn(file, (json) => parseTexts(json, formats, model))).toEqual(faults);
  });

  it('is named in each fault', () => {
    const values = new Map([...readTexts('en', formats).values, ['signIn.new', '{client}']]);
    expect(() => readTexts('ru', formats, { texts: {}, values })).toThrow(
      'views/texts/ru.json: signIn.new must be a text with {client}',
    );
  });
});

describe('the types', () => {
  it('in en.d.ts are those of en.json: `node scripts/texts.mjs` writes them', () => {
    expect(read('views/texts/en.d.ts')).toBe(typesOfTexts());
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
