import { z } from 'zod';
import { RIGHT_NAMES, type RightName } from '../rules/scope.ts';
import { isVisible } from '../rules/text.ts';
import { LANGUAGES, type Language, TEXTS } from './languages.ts';

/** The same in each language. */
export type PerLanguage<Value = string> = Readonly<Record<Language, Value>>;

/**
 * The rights that this service offers, each with the sentence that users read after "Demo Shop will be able to".
 * `{target}` stands for the shop or account that the right names.
 */
export type Catalogue = Readonly<Partial<Record<RightName, PerLanguage>>>;

/** All rights of this API family. An operator's file (`CATALOGUE`) replaces it, and may offer fewer. */
export const BUILT_IN_CATALOGUE: Required<Catalogue> = Object.fromEntries(
  RIGHT_NAMES.map((name) => [name, perLanguage((language) => TEXTS[language].rights[name])]),
) as Required<Catalogue>;

/** A value for each language. */
export function perLanguage<Value>(valueIn: (language: Language) => Value): PerLanguage<Value> {
  return Object.fromEntries(LANGUAGES.map((language) => [language, valueIn(language)])) as PerLanguage<Value>;
}

/** A text for each language in an operator's file: one text for all of them, or an object with one for each. */
export function textPerLanguage(text: z.ZodType<string>) {
  const each = z.strictObject(perLanguage(() => text));
  return z.preprocess((value) => (typeof value === 'string' ? perLanguage(() => value) : value), each);
}

/** The rights whose sentence needs its target: without it users would allow a payment and not see who gets it. */
const NAMES_A_TARGET = Object.entries(BUILT_IN_CATALOGUE)
  .filter(([, { en }]) => en.includes('{target}'))
  .map(([name]) => name);

const SENTENCE = z.string().refine(isVisible, 'must say something');

const CATALOGUE = z.partialRecord(z.enum(RIGHT_NAMES), textPerLanguage(SENTENCE)).refine(
  (catalogue) =>
    Object.entries(catalogue).every(([name, texts]) => {
      const parts = NAMES_A_TARGET.includes(name) ? 2 : 1;
      return Object.values(texts).every((text) => text.split('{target}').length === parts);
    }),
  `the sentences of ${NAMES_A_TARGET.join(', ')} need {target} once, the others must not have it`,
);

/**
 * Parses an operator's catalogue: a JSON object from the name of a right to its sentence, one for all languages or an object
 * with each.
 *
 * @throws {Error} whose message says on one line what is wrong
 */
export function parseCatalogue(json: string): Catalogue {
  const result = CATALOGUE.safeParse(JSON.parse(json));
  if (result.success) return result.data;
  throw new Error(z.prettifyError(result.error).replaceAll('\n', ' '));
}
