import { z } from 'zod';
import { findUnclearCharacter } from './text.ts';

/** A language by its tag (BCP 47): language, script and region, such as `en`, `pt-BR` or `zh-Hant`. */
export const LANGUAGE_TAG = /^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|\d{3}))?$/;

/** An operator's text by tag; under `''` one for all languages. */
export type PerLanguage = Readonly<Record<string, string>>;

/** A text of an operator's file: one for all languages, or an object with some by tag. On one line of a page. */
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
  const tag = z
    .string()
    .refine((key) => key === '' || LANGUAGE_TAG.test(key), 'is not a language tag, such as en or pt-BR');
  const byTag = z
    .record(tag, text, 'must be a string, or an object with a string for each language, such as en')
    .refine((texts) => Object.keys(texts).length > 0, 'must have a string for at least one language');
  return z.preprocess((value) => (typeof value === 'string' ? { '': value } : value), byTag);
}
