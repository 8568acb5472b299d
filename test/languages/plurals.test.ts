import { describe, expect, it, type MockInstance, vi } from 'vitest';
import { BUILT_IN_TAGS, TEXTS } from '../../src/languages/languages.ts';
import { readBuiltIn } from '../../src/languages/texts.ts';
import type { BuiltInTag } from '../support/languages.ts';
import { eachValue, leavesOf } from './leaves.ts';

// Every text that changes with a number, in plurals.txt with the numbers that tell the forms of both languages apart.
// `npx vitest run test/languages/plurals.test.ts -u` writes it anew.

const COUNTS = [1, 2, 5, 11, 21, 22, 101, 111];
/** Numbers that take one form, by language: 21 and 101 count like 1 in Russian, 11 and 111 don't. */
const SAME_FORM: Readonly<Record<BuiltInTag, readonly (readonly number[])[]>> = {
  en: [[2, 5, 11, 21, 22, 101, 111]],
  ru: [
    [21, 101],
    [2, 22],
    [5, 11, 111],
  ],
};

const plurals = BUILT_IN_TAGS.flatMap((language) =>
  pluralsOf(language).map((plural) => ({ language, ...plural })),
);

describe('plural forms', () => {
  it('match plurals.txt', async () => {
    const lines = plurals.map(
      ({ language, path, at }) =>
        `${language} ${path}\n${COUNTS.map((count) => `  ${at(count)}\n`).join('')}`,
    );
    await expect(lines.join('\n')).toMatchFileSnapshot('plurals.txt');
  });

  it.each(plurals)(
    'of $path in $language are equal for numbers that take the same form',
    ({ language, at }) => {
      for (const counts of SAME_FORM[language]) {
        const forms = counts.map((count) => at(count).replace(String(count), '#'));
        expect(new Set(forms).size, forms.join('\n')).toBe(1);
      }
    },
  );

  it.each(plurals.filter(({ language }) => language === 'ru'))(
    'of $path in Russian are complete',
    ({ at }) => {
      // After a word that asks for the genitive there are two forms: «не короче 21 знака, 22 знаков, 5 знаков»; «раз» and verbs have two.
      const enough = /(короче|длиннее|больше|меньше|до|от|из|около)\s22\s|22\s(раза|могут)/.test(at(22))
        ? 2
        : 3;
      expect(new Set([21, 22, 5].map((count) => at(count).replace(String(count), '#'))).size).toBe(enough);
    },
  );
});

/** The texts of a language that choose a form by a number, each with the text at a number. */
function pluralsOf(language: BuiltInTag) {
  const select = vi.spyOn(Intl.PluralRules.prototype, 'select');
  try {
    const { messages } = readBuiltIn(language);
    return leavesOf(TEXTS[language]).flatMap(({ path, text }) => {
      const numbers = messages.get(path)?.values.matchAll(/\{(\w+), number\}/g) ?? [];
      return [...numbers].flatMap(([, number]) => {
        const at = (count: number) =>
          (text as (values: object) => string)(eachValue((name) => (name === number ? count : '…')));
        return choosesBy(at, select) ? [{ path, at }] : [];
      });
    });
  } finally {
    select.mockRestore();
  }
}

function choosesBy(at: (count: number) => string, select: MockInstance<Intl.PluralRules['select']>): boolean {
  select.mockClear();
  at(7);
  return select.mock.calls.some(([count]) => count === 7);
}
