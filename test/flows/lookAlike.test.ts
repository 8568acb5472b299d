import { describe, expect, it } from 'vitest';
import { lookAlikeProblem } from '../../src/flows/lookAlike.ts';

describe('a name that could be taken for another application’s', () => {
  it.each([['Demo Shop', 'Dеmo Shop'.replaceAll(/[a-z]/gi, (letter) => letter), 'Cyrillic in a Latin word']])(
    'is found: %s, %s (%s)',
    (name, other) => {
      expect(lookAlikeProblem(other, [name])).toContain('mixes letters');
    },
  );

  it.each([
    ['Demo Shop', 'Demo Shop'],
    ['Demo Shop 1', 'Demo Shop 2'],
    ['Demo Shop', 'Demo Shops'],
    ['Кафе', 'Кофе'],
    ['Shop', 'Магазин'],
    ['市場', '市场'],
    ['हिन्दी', 'हन्द'],
    ['???', '!!!'],
  ])('is not found where names differ to the eye, or are the very same: %s, %s', (name, other) => {
    expect(lookAlikeProblem(name, [other])).toBeUndefined();
  });
});

describe('a name that mixes scripts in one word', () => {
  it.each(['Dеmo', 'Оzon', 'Shoр', 'Αpple', 'Βанк', 'Shoⲣ', 'ᏢayPal', 'paypaӏ'])('is found: %s', (name) => {
    expect(lookAlikeProblem(`The ${name} shop`, [])).toBe(
      `mixes letters of several scripts in one word, “${name}”`,
    );
  });

  it.each([
    ...[
      'Demo Shop',
      'Магазин «Ромашка»',
      'Яндекс Pay',
      'Ozon Банк',
      'Tシャツ',
      '東京カメラ',
      'LG전자',
      'متجر أحمد',
      'חנות',
    ],
    ...['Ελλάδα', 'Ещё-shop', '1С', 'H&M', 'naïve café', 'Ärzte', 'Œuvre', 'Straße'],
  ])('is not what words of different scripts beside each other are: %s', (name) => {
    expect(lookAlikeProblem(name, [])).toBeUndefined();
  });
});

describe('a name with a mark that says it was looked at', () => {
  it.each(['✔', '✓', '☑', '✅', '🗸', '√', '🛡', '🔒', '★', '🏦', 'Ⓡ', 'ℹ'])('is found: %s', (mark) => {
    expect(lookAlikeProblem(`Demo Shop ${mark}`, [])).toBe(
      `has ${mark}, which could be taken for a mark of ours`,
    );
  });

  it.each(['Brand™', 'Brand®', '© Shop', 'Магазин №1', '90° Café', 'A+B', '€uro', '<Shop>', 'Shop | more'])(
    'is not what other signs are: %s',
    (name) => {
      expect(lookAlikeProblem(name, [])).toBeUndefined();
    },
  );
});
