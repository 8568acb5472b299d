import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { type Right, targetOf } from './scope.ts';
import { withinQuotation } from './text.ts';

/** International numbers (E.164). Without a plus a short one may be a national number, which another country code would change. */
const PHONE_NUMBER = /^(?:\+[0-9]{7,15}|[0-9]{11,15})$/;
/** Shorter numbers are read at a glance. */
const MIN_GROUPED_DIGITS = 8;
const GROUP = /[0-9]{1,4}/g;

/**
 * The shop or account that a right names, in the parts that a page sets apart: people compare a number by its groups. The
 * digits are those of the application, all of them in their order; a phone number gets a `+` in front, and in some countries
 * hyphens. In any other text a replacement character stands for each quotation mark.
 *
 * @returns one part for what has no groups; null for a right that names nobody
 */
export function targetParts(right: Right): string[] | null {
  const target = targetOf(right);
  if (target === null) return null;
  const shown = withinQuotation(target);
  if (right.name !== 'payment.to-account') return [shown];
  if (right.type === 'phone') return formatPhoneNumber(target)?.split(' ') ?? [shown];
  return right.type === 'account' ? digitGroups(shown) : [shown];
}

/**
 * A phone number the way its country writes it, for example `+7 916 123 45 67`. It begins with the country code, with or
 * without a plus.
 *
 * @returns null for what is no such number: it is shown as it is
 */
export function formatPhoneNumber(text: string): string | null {
  if (!PHONE_NUMBER.test(text)) return null;
  const digits = text.replace('+', '');
  const number = parsePhoneNumberFromString(`+${digits}`);
  if (!number?.isValid()) return null;
  const formatted = number.formatInternational();
  // The library leaves out a zero that some countries dial only inside: then it is another text than the application's.
  return formatted.replaceAll(/[^0-9]/g, '') === digits ? formatted : null;
}

/** An account number of digits in groups of four, the last one shorter; any other text as one group. */
export function digitGroups(text: string): string[] {
  const isLong = /^[0-9]+$/.test(text) && text.length >= MIN_GROUPED_DIGITS;
  return isLong ? (text.match(GROUP) ?? []) : [text];
}
