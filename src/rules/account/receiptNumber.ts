import { dayOf, endOfDay, isDay } from '../common/lifetimes.ts';

/** @param reference of the request that allowed */
export function formatReceiptNumber(at: Date, reference: string): string {
  return `${dayOf(at)}-${reference}`;
}

/** Of an approval, such as `2026-11-28-7f3a91c245`: its day (UTC), which bounds the search in the trail, and its reference. */
export function parseReceiptNumber(text: string) {
  const [, day = '', reference = ''] = /^(.{10})-([0-9a-f]{10})$/.exec(text.trim().toLowerCase()) ?? [];
  return isDay(day) ? { reference, since: new Date(day), until: endOfDay(day) } : null;
}
