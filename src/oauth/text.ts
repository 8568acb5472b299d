/**
 * Whether a text holds characters that could make a page say something else than it seems to: control
 * characters, line and paragraph separators, and those that change the direction of writing.
 */
export function hasDeceptiveCharacters(text: string): boolean {
  return /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u.test(text);
}

/** Whether a text has anything to see: not only spaces and characters that show nothing. */
export function isVisible(text: string): boolean {
  return /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{C}]/u.test(text);
}

/** Length in bytes of UTF-8, the unit of every limit on a size here. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}
