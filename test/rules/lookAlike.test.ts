import { describe, expect, it } from 'vitest';
import { lookAlikeProblem } from '../../src/rules/common/lookAlike.ts';

describe('the check for names that look alike', () => {
  it.each([
    ['paypal', 'раураӏ', 'a word all in Cyrillic, with a small palochka'],
    ['BANK', 'ΒΑΝΚ', 'a word all in Greek'],
    ['caxap', 'сахар', 'a Cyrillic word that looks like Latin letters'],
    ['MOCT', 'мост', 'a Cyrillic word that looks Latin in capitals only'],
    ['Demo Shop', 'Demo 5hop', 'a digit for a letter'],
    ['Demo Shop', 'DEM0 SH0P', 'digits for letters, in capitals'],
    ['Buzz Lab', '8uz2 1ab', 'digits for letters'],
    ['Market24', 'Market 24', 'a space'],
    ['Demo Shop', 'Démo-Shop!', 'accents and punctuation'],
    ['!!!', 'ǃǃǃ', 'punctuation, and letters that look like it'],
  ])('finds %s and %s (%s)', (name, twin) => {
    const problem = (other: string) => `looks like that of another application, “${other}”`;
    expect(lookAlikeProblem(twin, [name])).toBe(problem(name));
    expect(lookAlikeProblem(name, [twin])).toBe(problem(twin));
  });

  it.each([
    ['Demo Shop', 'Demo Shop'],
    ['Demo Shop 1', 'Demo Shop 2'],
    ['Ascent', 'Assent'],
    ['Demo Shop', 'Demo Shops'],
    ['Кафе', 'Кофе'],
    ['Shop', 'Магазин'],
    ['市場', '市场'],
    ['हिन्दी', 'हन्द'],
    ['???', '!!!'],
  ])('accepts names that look different or are equal: %s, %s', (name, other) => {
    expect(lookAlikeProblem(name, [other])).toBeUndefined();
  });
});

describe('the check for names that mix scripts in one word', () => {
  it.each(['Dеmo', 'Оzon', 'Shoр', 'Αpple', 'Βанк', 'Shoⲣ', 'ᏢayPal', 'paypaӏ'])('finds %s', (name) => {
    expect(lookAlikeProblem(`The ${name} shop`, [])).toBe(
      `mixes letters of several scripts in one word, “${name}”`,
    );
  });

  it.each([
    ...['Demo Shop', 'Магазин «Ромашка»', 'Яндекс Pay', 'Ozon Банк', 'Tシャツ', '東京カメラ', 'LG전자'],
    ...['متجر أحمد', 'חנות'],
    ...['Ελλάδα', 'Ещё-shop', '1С', 'H&M', 'naïve café', 'Ärzte', 'Œuvre', 'Straße'],
  ])('accepts words of different or commonly combined scripts: %s', (name) => {
    expect(lookAlikeProblem(name, [])).toBeUndefined();
  });
});

describe('the check for marks in a name that suggest a verification', () => {
  it.each(['✔', '✓', '☑', '✅', '🗸', '√', '🛡', '🔒', '★', '🏦', 'Ⓡ', 'ℹ'])('finds %s', (mark) => {
    expect(lookAlikeProblem(`Demo Shop ${mark}`, [])).toBe(
      `has ${mark}, which looks like a mark of this service`,
    );
  });

  it.each(['Brand™', 'Brand®', '© Shop', 'Магазин №1', '90° Café', 'A+B', '€uro', '<Shop>', 'Shop | more'])(
    'accepts other symbols: %s',
    (name) => {
      expect(lookAlikeProblem(name, [])).toBeUndefined();
    },
  );
});
