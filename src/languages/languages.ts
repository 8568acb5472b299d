import Negotiator from 'negotiator';
import { en, type Texts } from './en.ts';
import { ru } from './ru.ts';

export type { Texts };

/** The languages of our pages by their BCP 47 tag. The first is for those who read none of them. */
export const TEXTS = { en, ru } satisfies Record<string, Texts>;

export type Language = keyof typeof TEXTS;

export const LANGUAGES = Object.keys(TEXTS) as Language[];
export const DEFAULT_LANGUAGE: Language = 'en';

export function isLanguage(tag: unknown): tag is Language {
  return typeof tag === 'string' && Object.hasOwn(TEXTS, tag);
}

/** The language that an `Accept-Language` header prefers (RFC 9110 section 12.5.4). */
export function preferredLanguage(header: string | undefined): Language {
  if (header === undefined || header.length > MAX_HEADER_CHARACTERS) return DEFAULT_LANGUAGE;
  const accepted = new Negotiator({ headers: { 'accept-language': header } }).languages();
  // A browser set to Russian as it is spoken in Kazakhstan sends ru-KZ, often without ru behind it.
  return accepted.map((tag) => tag.split('-', 1)[0]?.toLowerCase()).find(isLanguage) ?? DEFAULT_LANGUAGE;
}

/** No browser sends more; what a stranger sends is sorted. */
const MAX_HEADER_CHARACTERS = 500;
