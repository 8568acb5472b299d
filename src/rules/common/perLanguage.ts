import { z } from 'zod';
import { findUnclearCharacter } from './text.ts';

/** Our pages' languages, by BCP 47 tag. The first is the default. */
export const LANGUAGES = ['en', 'ru'] as const;

export type Language = (typeof LANGUAGES)[number];

export type PerLanguage<Value = string> = Readonly<Record<Language, Value>>;

export function eachLanguage<Value>(valueIn: (language: Language) => Value): PerLanguage<Value> {
  return Object.fromEntries(LANGUAGES.map((language) => [language, valueIn(language)])) as PerLanguage<Value>;
}

/** A text of an operator's file: one for all languages, or an object with one for each. On one line of a page. */
export function perLanguage(maxCharacters: number) {
  const text = z
    .string('must be a string')
    .refine((value) => value !== '' && [...value].length <= maxCharacters, {
      error: `must have 1 to ${maxCharacters} characters`,
      abort: true,
    })
    .refine((value) => findUnclearCharacter(value) === undefined, {
      error: ({ input }) => `has ${findUnclearCharacter(String(input))}: only visible characters are allowed`,
    });
  const inEach = z.strictObject(
    eachLanguage(() => text),
    `must be a string, or an object with a string for each of ${LANGUAGES.join(' and ')}`,
  );
  return z.preprocess((value) => (typeof value === 'string' ? eachLanguage(() => value) : value), inEach);
}
