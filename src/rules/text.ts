/**
 * What a text can hold without anybody seeing it: white space, what Unicode says to ignore, control and format characters,
 * what it has not assigned or leaves to private use (all of it the same box), what is drawn as nothing (braille blank,
 * object replacement, null notehead, fillers). And a mark at the beginning, which is drawn over the text before it.
 */
const UNCLEAR =
  /^\p{M}|[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{C}\u2800\uFFFC\u{13441}\u{13442}\u{16FE4}\u{1D159}]/u;

/** Scripts in which a joiner between two letters changes how they are written. */
const JOINING_LETTERS = [
  ...['Arabic', 'Bengali', 'Devanagari', 'Gujarati', 'Gurmukhi', 'Kannada', 'Malayalam', 'Oriya', 'Sinhala'],
  ...['Syriac', 'Tamil', 'Telugu'],
]
  .map((script) => `\\p{Script_Extensions=${script}}`)
  .join('');

/** The places where a single space, a joiner or a variation selector belongs: between words, in scripts and in emoji. */
const NEEDED_INSIDE = new RegExp(
  [
    '(?<=[^ ]) (?=[^ ])',
    `(?<=[${JOINING_LETTERS}])[\\u200C\\u200D](?=[${JOINING_LETTERS}])`,
    '(?<=\\p{Extended_Pictographic}[\\uFE0F\\p{Emoji_Modifier}]?)\\u200D(?=\\p{Extended_Pictographic})',
    '(?<=\\p{Extended_Pictographic})[\\uFE0E\\uFE0F]|(?<=[0-9#*])\\uFE0F(?=\\u20E3)',
  ].join('|'),
  'gu',
);

/**
 * The first character of a text that can't be seen or told from another, for example `U+00A0 at character 3`;
 * `undefined` when there is none. For a text that a program compares and a person reads: two that look the same are the
 * same.
 *
 * @param text short: the caller has bounded it
 */
export function findUnclear(text: string): string | undefined {
  const found = UNCLEAR.exec(text);
  if (found === null) return undefined;
  const codePoint = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `U+${codePoint} at character ${[...text.slice(0, found.index)].length + 1}`;
}

/** Like {@link findUnclear}, for a name: single spaces inside it are fine, and the joiners that scripts and emoji need. */
export function findUnclearInName(name: string): string | undefined {
  return findUnclear(name.replaceAll(NEEDED_INSIDE, '.'));
}

/** Whether a text has anything to see: not only spaces and characters that show nothing. */
export function isVisible(text: string): boolean {
  return /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{C}]/u.test(text);
}

/** Length in bytes of UTF-8, the unit of every limit on a size here. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}
