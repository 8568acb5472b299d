import unhomoglyph from 'unhomoglyph';
import { ofScripts } from './text.ts';

/** Scripts whose letters look like those of the others. */
const ALIKE = ['Latin', 'Cyrillic', 'Greek'];
/** Scripts that share words with Latin letters and don't look like them. */
const EAST_ASIAN = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Bopomofo'];

/** For each script of {@link ALIKE}: the letters of it, and those that no word may mix with them. */
const MIXTURES = ALIKE.map((script) => ({
  own: new RegExp(`\\p{Script=${script}}`, 'u'),
  foreign: new RegExp(
    `(?![${ofScripts([script, ...EAST_ASIAN])}\\p{Script=Common}\\p{Script=Inherited}])\\p{L}`,
    'u',
  ),
}));

/** The service's name without an operator's; no application may have either. */
const OWN_NAME = 'Assent';

/** Digits that look like letters in a name, and that Unicode's list lacks: it has 0 and 1. */
const TWINS: Readonly<Record<string, string>> = { 2: 'z', 5: 's', 8: 'b' };

/** Symbols and pictures: a tick, a shield or a lock beside a name looks like a seal of approval. */
const MARK = /(?![©®™℠№°])[\p{So}\p{Extended_Pictographic}√]/u;

/**
 * Why an application's name could be mistaken for one of `others` or the service's, as the end of a sentence; undefined when
 * it can't. The very same name is fine: one application may have several registrations.
 */
export function lookAlikeProblem(
  name: string,
  others: readonly string[],
  serviceNames: readonly string[] = [],
): string | undefined {
  const mark = MARK.exec(name)?.[0];
  if (mark !== undefined) return `has ${mark}, which could be taken for a mark of ours`;
  const mixed = wordsOf(name).find(isMixed);
  if (mixed !== undefined) return `mixes letters of several scripts in one word, “${mixed}”`;
  const looks = looksOf(name);
  const isLike = (other: string) => looksOf(other).some((look) => looks.includes(look));
  const own = [OWN_NAME, ...serviceNames].find(isLike);
  if (own !== undefined) return `looks like this service’s own, “${own}”`;
  const twin = others.find((other) => other !== name && isLike(other));
  return twin && `looks like that of another application, “${twin}”`;
}

function isMixed(word: string): boolean {
  return MIXTURES.some(({ own, foreign }) => own.test(word) && foreign.test(word));
}

/**
 * The looks of a name: its skeleton (UTS 39 section 4) without case, accents, spaces and punctuation. Three of them, because
 * a capital may look like another letter than the small one does (I and l, В and в). For comparison only.
 */
function looksOf(name: string): string[] {
  const text = name.normalize('NFKC').replaceAll(/[258]/g, (twin) => TWINS[twin] ?? twin);
  return [text, text.toLowerCase(), text.toUpperCase()].map((spelling) => lettersOf(skeleton(spelling)));
}

/** A name of nothing but punctuation is left as it is. */
function lettersOf(look: string): string {
  const small = look.toLowerCase();
  const letters = small.replaceAll(/[\u0300-\u036F]|[^\p{L}\p{M}\p{N}]/gu, '');
  return letters === '' ? small : letters;
}

/** The same for texts that look alike as they are written (UTS 39 section 4). For comparison only. */
export function skeleton(text: string): string {
  const visible = text
    .normalize('NFD')
    .replaceAll(/\p{Default_Ignorable_Code_Point}|(?<=\p{Soft_Dotted})\u0307/gu, '');
  // Unicode's list takes a small palochka for an i.
  return unhomoglyph(visible.replaceAll('ӏ', 'l')).normalize('NFD');
}

/** Scripts in which words are written today (UAX 31, table 5), those together that one language mixes (UTS 39 section 5.1). */
const SCRIPTS = [
  'Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Hebrew Kannada Khmer Lao Latin',
  'Malayalam Myanmar Oriya Sinhala Tamil Telugu Thaana Thai Tibetan Han,Hiragana,Katakana Han,Hangul Han,Bopomofo',
].flatMap((line) => line.split(' ').map((together) => together.split(',')));
/** Letters of no script, such as mathematical ones, go with none. */
const OF_ANY = `[${ofScripts(['Common'])}--\\p{L}]${ofScripts(['Inherited'])}`;
const OF_ONE_SCRIPT = new RegExp(`^(?:${SCRIPTS.map((s) => `[${ofScripts(s)}${OF_ANY}]*`).join('|')})$`, 'v');

/** Digits and signs apart: no letter is the twin of another in its word. */
export function hasWordsOfOneScript(text: string): boolean {
  return wordsOf(text).every((word) => OF_ONE_SCRIPT.test(word));
}

function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{M}\p{N}]+/u);
}
