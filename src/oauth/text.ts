/**
 * Whether a text holds characters that could make a page say something else than it seems to: control and
 * format characters (which change the direction of writing or show nothing), line and paragraph separators.
 * The two joiners that several scripts and emoji need are let through.
 */
export function hasDeceptiveCharacters(text: string): boolean {
  return /(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text);
}

/** Whether a text has anything to see: not only spaces and characters that show nothing. */
export function isVisible(text: string): boolean {
  return /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{C}]/u.test(text);
}

/** Length in bytes of UTF-8, the unit of every limit on a size here. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}
