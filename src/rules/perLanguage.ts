import { z } from 'zod';
import { findUnclearInName } from './text.ts';

/** The languages of our pages, by their BCP 47 tag. The first is for those who read none of them. */
export const LANGUAGES = ['en', 'ru'] as const;

export type Language = (typeof LANGUAGES)[number];

/** The same in each language. */
export type PerLanguage<Value = string> = Readonly<Record<Language, Value>>;

/** A value for each language. */
export function eachLanguage<Value>(valueIn: (language: Language) => Value): PerLanguage<Value> {
  return Object.fromEntries(LANGUAGES.map((language) => [language, valueIn(language)])) as PerLanguage<Value>;
}

/** A text of an operator's file: one for all languages, or an object with one for each. On one line of a page. */
export function perLanguage(maxCharacters: number) {
  const text = z.string('must be a text').superRefine((value, context) => {
    if (value === '' || [...value].length > maxCharacters) {
      return context.addIssue({ code: 'custom', message: `must have 1 to ${maxCharacters} characters` });
    }
    const unclear = findUnclearInName(value);
    if (unclear === undefined) return;
    context.addIssue({
      code: 'custom',
      message: `has ${unclear}: only characters that can be seen may be there`,
    });
  });
  return z.preprocess(
    (value) => (typeof value === 'string' ? eachLanguage(() => value) : value),
    z.strictObject(
      eachLanguage(() => text),
      { error: ({ code }) => (code === 'invalid_type' ? NEITHER : undefined) },
    ),
  );
}

const NEITHER = `must be a text, or an object with a text for each of ${LANGUAGES.join(' and ')}`;
