import { z } from 'zod';
import { findUnclearInName } from './text.ts';

/** A text in each language of the pages. */
export type PerLanguage = Readonly<Record<'en' | 'ru', string>>;

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
    (value) => (typeof value === 'string' ? { en: value, ru: value } : value),
    z.strictObject(
      { en: text, ru: text },
      { error: ({ code }) => (code === 'invalid_type' ? NEITHER : undefined) },
    ),
  );
}

const NEITHER = 'must be a text, or an object with a text for each of en and ru';
