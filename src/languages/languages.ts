import Negotiator from 'negotiator';
import type { Sentences } from '../../views/texts/en.d.ts';
import { lazy } from '../rules/common/memoize.ts';
import { LANGUAGES, type Language, type PerLanguage } from '../rules/common/perLanguage.ts';
import { formatsOf } from './formats.ts';
import { readTexts } from './texts.ts';

export { LANGUAGES, type Language };

/** What a language has beside its sentences. */
const RULES = {
  en: { formats: formatsOf('en-GB', 'code'), quotes: { open: '“', close: '”' } },
  ru: { formats: formatsOf('ru', 'symbol'), quotes: { open: '«', close: '»' } },
} satisfies PerLanguage<object>;

export type Texts = Sentences & (typeof RULES)[Language];

const english = lazy(() => readTexts('en', RULES.en.formats));

/** All texts for users, read on first use. English is the model: another language with other texts or values doesn't load. */
export const TEXTS = {} as PerLanguage<Texts>;
for (const language of LANGUAGES) {
  const rules = RULES[language];
  const file = () => (language === 'en' ? english() : readTexts(language, rules.formats, english()));
  const texts = lazy(() => ({ ...(file().texts as Sentences), ...rules }));
  Object.defineProperty(TEXTS, language, { enumerable: true, get: texts });
}

/** A text that may have values. */
export function withValues<Values>(text: string | ((values: Values) => string), values: Values): string {
  return typeof text === 'string' ? text : text(values);
}

export function isLanguage(tag: unknown): tag is Language {
  return (LANGUAGES as readonly unknown[]).includes(tag);
}

/** The language that an `Accept-Language` header prefers (RFC 9110 section 12.5.4). */
export function preferredLanguage(header = ''): Language {
  const sent = header.length > 500 ? '' : header; // longer than any browser's
  const accepted = new Negotiator({ headers: { 'accept-language': sent } }).languages();
  return firstLanguage(accepted) ?? LANGUAGES[0];
}

/** The first supported one of these language tags: ru-KZ counts as Russian. */
export function firstLanguage(tags: readonly string[]): Language | undefined {
  return tags.map((tag) => tag.split('-', 1)[0]?.toLowerCase()).find(isLanguage);
}
