import { z } from 'zod';
import { parseOperatorFile } from '../rules/common/operatorFile.ts';
import { eachLanguage, type PerLanguage, perLanguage } from '../rules/common/perLanguage.ts';
import { RIGHT_NAMES, RIGHTS, type RightName } from '../rules/scope/rights.ts';
import { TEXTS } from './languages.ts';

/** The rights on offer, each with its sentence after "It will be able to"; `{target}` stands for the shop or account. */
export type Catalogue = Readonly<Partial<Record<RightName, PerLanguage>>>;

/** All rights of this API family. An operator's file (`CATALOGUE`) replaces it and may offer fewer. */
export const BUILT_IN_CATALOGUE = Object.fromEntries(
  RIGHT_NAMES.map((name) => [name, eachLanguage((language) => TEXTS[language].rights[name])]),
) as Required<Catalogue>;

/** Rights whose sentence needs its target: the user must see a payment's receiver. */
const NAMES_A_TARGET: readonly string[] = RIGHT_NAMES.filter((name) => RIGHTS[name].names !== undefined);

const MAX_SENTENCE_CHARACTERS = 300;

const CATALOGUE = z
  .partialRecord(z.enum(RIGHT_NAMES), perLanguage(MAX_SENTENCE_CHARACTERS), 'must be sentences by right')
  .refine(
    (catalogue) =>
      Object.entries(catalogue).every(([name, texts]) => {
        const parts = NAMES_A_TARGET.includes(name) ? 2 : 1;
        return Object.values(texts).every((text) => text.split('{target}').length === parts);
      }),
    `the sentences of ${NAMES_A_TARGET.join(', ')} need {target} once, the others must not have it`,
  );

/** Parses an operator's catalogue: a sentence for each right. @throws {FileError} with all its mistakes */
export function parseCatalogue(json: string): Catalogue {
  return parseOperatorFile(CATALOGUE, json);
}
