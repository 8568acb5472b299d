import Negotiator from 'negotiator';
import { LANGUAGES, type Language, type PerLanguage } from '../rules/common/perLanguage.ts';
import { en, type Texts } from './en.ts';
import { ru } from './ru.ts';

export { LANGUAGES, type Language, type Texts };

/** All texts for users. English is the model: a language with a missing or extra text fails to compile. */
export const TEXTS: PerLanguage<Texts> = { en, ru };

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
