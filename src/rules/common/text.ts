/**
 * Invisible or indistinguishable characters: white space, default-ignorable, control, format, unassigned and private-use ones,
 * those drawn as nothing (braille blank, null notehead, fillers), and a leading combining mark, drawn over the text before.
 */
const UNCLEAR =
  /^\p{M}|[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{C}\u2800\uFFFC\u{13441}\u{13442}\u{16FE4}\u{1D159}]/u;

/** Characters of these scripts, for a pattern's brackets. */
export const ofScripts = (scripts: readonly string[]): string =>
  scripts.map((script) => `\\p{Script_Extensions=${script}}`).join('');

/** Scripts in which a joiner between two letters changes their form. */
const JOINING_LETTERS = ofScripts([
  ...['Arabic', 'Bengali', 'Devanagari', 'Gujarati', 'Gurmukhi', 'Kannada', 'Malayalam', 'Oriya', 'Sinhala'],
  ...['Syriac', 'Tamil', 'Telugu'],
]);

/** Legitimate positions of a single space, a joiner or a variation selector: between words, within some scripts and emoji. */
const NEEDED_INSIDE = new RegExp(
  [
    '(?<=[^ ]) (?=[^ ])',
    `(?<=[${JOINING_LETTERS}])[\\u200C\\u200D](?=[${JOINING_LETTERS}])`,
    '(?<=\\p{Extended_Pictographic}[\\uFE0F\\p{Emoji_Modifier}]?)\\u200D(?=\\p{Extended_Pictographic})',
    '(?<=\\p{Extended_Pictographic})[\\uFE0E\\uFE0F]|(?<=[0-9#*])\\uFE0F(?=\\u20E3)',
  ].join('|'),
  'gu',
);

/** The first such character, for example `U+00A0 at character 3`; undefined for none. @param text of bounded length */
export function findInvisibleCharacter(text: string): string | undefined {
  const found = UNCLEAR.exec(text);
  if (found === null) return undefined;
  const codePoint = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `U+${codePoint} at character ${[...text.slice(0, found.index)].length + 1}`;
}

/** Like {@link findInvisibleCharacter}, for a name: allows single spaces inside it, and the joiners of scripts and emoji. */
export function findUnclearCharacter(name: string): string | undefined {
  return findInvisibleCharacter(name.replaceAll(NEEDED_INSIDE, '.'));
}

/** A single one is an apostrophe, as in L’Oréal, an accent or a bracket; two resemble a quotation mark. */
const STROKE = "['‘-‛‹›′‵＇՚՝ʹ-ˋꞌ<>＜＞﹤﹥❮❯〈〉⟨⟩\\u0374\\u05F3\\u07F4\\u07F5\\p{Sk}]";
/** Primes, letters, ornaments and brackets that resemble a quotation mark, but aren't one in Unicode. */
const OTHER_QUOTE = '[ʺ˝ˮ˶″‴‶‷⁗〃❛-❠《》≪≫⟪⟫⪡⪢⋘⋙⨠🙶-🙸\\u05F4\\u1CD3]';
const QUOTES = new RegExp(`(?!${STROKE})\\p{Quotation_Mark}|${OTHER_QUOTE}|(?:${STROKE}\\p{M}*){2,}`, 'gu');

/** Third-party text for within our quotation marks: it must not end them and continue as if it were ours. */
export function replaceQuotationMarks(text: string): string {
  return text.replaceAll(QUOTES, '\uFFFD');
}
