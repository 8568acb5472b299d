import { readFileSync } from 'node:fs';
import { parse, type Token } from '@messageformat/parser';
import { FORMAT_CHOICES } from '../../src/languages/formats.ts';
import { withPluralCategories } from '../../src/languages/messages.ts';

const ENGLISH = JSON.parse(readFileSync(new URL('../../views/texts/en.json', import.meta.url), 'utf8'));

/** A complete file of texts in a language that no one reads: English with each word replaced. */
export function pseudoTexts(tag: string, wordOf: (word: string) => string): string {
  const categories = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
  const written = (tokens: readonly Token[]): string => tokens.map(writtenToken).join('');
  const writtenToken = (token: Token): string => {
    if (token.type === 'content') return token.value.replaceAll(/[\p{L}’]+/gu, wordOf);
    if (token.type === 'octothorpe') return '#';
    if (!('cases' in token)) return `{${token.arg}${'key' in token ? `, ${token.key}` : ''}}`;
    const cases = token.cases.map(({ key, tokens }) => `${key} {${written(tokens)}}`);
    return `{${token.arg}, ${token.type}, ${cases.join(' ')}}`;
  };
  const translated = (name: string, one: unknown): unknown => {
    if (typeof one === 'string')
      return name.startsWith('@') || name in FORMAT_CHOICES
        ? one
        : withPluralCategories(written(parse(one)), categories);
    return Object.fromEntries(
      Object.entries(Object(one)).map(([inner, text]) => [inner, translated(inner, text)]),
    );
  };
  return JSON.stringify(translated('', ENGLISH));
}

const ARABIC = 'ابتثجحخدذرزسشصضطظعغفقكلمنهوي';

/** A word of as many Arabic letters. */
export const inArabic = (word: string) =>
  [...word].map((letter) => ARABIC[(letter.codePointAt(0) ?? 0) % ARABIC.length]).join('');

/** The word twice, in letters about as wide that no English word has. */
export function twiceAsLong(word: string): string {
  const foreign = word.replaceAll(/[fijlrt]/gi, 'í').replaceAll(/[^í]/g, 'ø');
  return `${foreign} ${foreign}`;
}
