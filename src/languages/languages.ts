import Negotiator from 'negotiator';
import { LANGUAGES, type Language, type PerLanguage } from '../rules/common/perLanguage.ts';
import { en, type Texts } from './en.ts';
import { ru } from './ru.ts';

export { LANGUAGES, type Language, type Texts };

/** Every text that users read. English is the model: a language that lacks one of its texts, or has another, is not built. */
export const TEXTS: PerLanguage<Texts> = { en, ru };

const DEFAULT_LANGUAGE: Language = LANGUAGES[0];

export function isLanguage(tag: unknown): tag is Language {
  return (LANGUAGES as readonly unknown[]).includes(tag);
}

/** The language that an `Accept-Language` header prefers (RFC 9110 section 12.5.4). */
export function preferredLanguage(header: string | undefined): Language {
  if (header === undefined || header.length > MAX_HEADER_CHARACTERS) return DEFAULT_LANGUAGE;
  const accepted = new Negotiator({ headers: { 'accept-language': header } }).languages();
  return firstLanguage(accepted) ?? DEFAULT_LANGUAGE;
}

/** The first of these language tags that there is: ru-KZ is Russian, too. */
export function firstLanguage(tags: readonly string[]): Language | undefined {
  return tags.map((tag) => tag.split('-', 1)[0]?.toLowerCase()).find(isLanguage);
}

/** No browser sends more; what a stranger sends is sorted. */
const MAX_HEADER_CHARACTERS = 500;
