import { BUILT_IN_TAGS, type Language, languagesOf, readTextFiles } from '../../src/languages/languages.ts';
import { inArabic, pseudoTexts, twiceAsLong } from './pseudoLanguage.ts';

/** Languages of an operator: from right to left with six plurals, and twice as long as English. */
export const PSEUDO_TAGS = ['ar', 'de'] as const;

export type BuiltInTag = (typeof BUILT_IN_TAGS)[number];
export type Tag = BuiltInTag | (typeof PSEUDO_TAGS)[number];

const FILES = new Map([
  ['ar', pseudoTexts('ar', inArabic)],
  ['de', pseudoTexts('de', twiceAsLong)],
]);
export const WITH_PSEUDO = languagesOf(readTextFiles(FILES), [...BUILT_IN_TAGS, ...PSEUDO_TAGS]);

export function languageOf(tag: Tag): Language {
  const language = WITH_PSEUDO.find(tag);
  if (language === undefined) throw new Error(`${tag} is not offered`);
  return language;
}
