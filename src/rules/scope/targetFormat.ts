import { createRequire } from 'node:module';
import { onFirstUse } from '../common/kept.ts';
import { withinQuotation } from '../common/text.ts';
import type { Right } from './scope.ts';

/** International numbers (E.164). Without a plus a short one may be a national number, which another country code would change. */
const PHONE_NUMBER = /^(?:\+[0-9]{7,15}|[0-9]{11,15})$/;
/** A hundred files, which most servers need for no request. */
const phoneNumbers = onFirstUse((): typeof import('libphonenumber-js/min') =>
  createRequire(import.meta.url)('libphonenumber-js/min'),
);
/** Shorter numbers are read at a glance. */
const MIN_GROUPED_DIGITS = 8;

/**
 * The target of a right in the groups by which users compare numbers, or one part; null without one. All digits stay in order;
 * a phone number gets a `+` in front and some hyphens, any other text a replacement character for each quotation mark.
 */
export function targetParts({ target, type }: Right): string[] | null {
  if (target === undefined) return null;
  const shown = withinQuotation(target);
  if (type === 'phone') return formatPhoneNumber(target)?.split(' ') ?? [shown];
  return type === 'account' ? digitGroups(shown) : [shown];
}

/** As its country writes it, for example `+7 916 123 45 67`; null for text that doesn't begin with a country code. */
export function formatPhoneNumber(text: string): string | null {
  if (!PHONE_NUMBER.test(text)) return null;
  const digits = text.replace('+', '');
  const number = phoneNumbers().parsePhoneNumberFromString(`+${digits}`);
  if (!number?.isValid()) return null;
  const formatted = number.formatInternational();
  // The library drops a zero that some countries dial only inside: another text than the application's.
  return formatted.replaceAll(/[^0-9]/g, '') === digits ? formatted : null;
}

/** An account number of digits in groups of four, the last one shorter; any other text as one group. */
export function digitGroups(text: string): string[] {
  const isLong = /^[0-9]+$/.test(text) && text.length >= MIN_GROUPED_DIGITS;
  return isLong ? (text.match(/[0-9]{1,4}/g) ?? []) : [text];
}
