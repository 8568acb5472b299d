import { createRequire } from 'node:module';
import { lazy } from '../common/memoize.ts';
import { replaceQuotationMarks } from '../common/text.ts';
import type { Right } from './scope.ts';

/** International numbers (E.164). A short one without a plus may be national: another country code would change it. */
const PHONE_NUMBER = /^(?:\+[0-9]{7,15}|[0-9]{11,15})$/;
/** A hundred files, unused by most servers' requests. */
const phoneNumbers = lazy((): typeof import('libphonenumber-js/min') =>
  createRequire(import.meta.url)('libphonenumber-js/min'),
);
/** Digits, of which fewer are readable at a glance, or an IBAN (ISO 13616). */
const LONG_NUMBER = /^(?:[0-9]{8,}|[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30})$/;

/**
 * A right's target in the groups by which users compare numbers, or one part; null without one. All digits stay in order; a
 * phone number gets a leading `+` and some hyphens, other text a replacement character for each quotation mark.
 */
export function targetParts({ target, type }: Right): string[] | null {
  if (target === undefined) return null;
  const shown = replaceQuotationMarks(target);
  if (type === 'phone') return formatPhoneNumber(target)?.split(' ') ?? [shown];
  return type === 'account' ? digitGroups(shown) : [shown];
}

/** In its country's format, for example `+7 916 123 45 67`; null for text without a country code. */
export function formatPhoneNumber(text: string): string | null {
  if (!PHONE_NUMBER.test(text)) return null;
  const digits = text.replace('+', '');
  const number = phoneNumbers().parsePhoneNumberFromString(`+${digits}`);
  if (!number?.isValid()) return null;
  const formatted = number.formatInternational();
  // The library drops a zero that some countries dial only inside: the text would differ from the application's.
  return formatted.replaceAll(/[^0-9]/g, '') === digits ? formatted : null;
}

/** An account number in groups of four, the last one shorter; other text as one group. */
function digitGroups(text: string): string[] {
  return LONG_NUMBER.test(text) ? (text.match(/.{1,4}/g) ?? []) : [text];
}
