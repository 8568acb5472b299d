import { createRequire } from 'node:module';
import { lazy, memoize } from './memoize.ts';
import { ofScripts } from './text.ts';

/** Its list has 100 KB, which few commands need. */
const unhomoglyph = lazy((): ((text: string) => string) => createRequire(import.meta.url)('unhomoglyph'));

/** Scripts with letters that resemble each other's. */
const ALIKE = ['Latin', 'Cyrillic', 'Greek'];
/** Scripts that share words with Latin letters and don't resemble them. */
const EAST_ASIAN = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Bopomofo'];

/** For each script of {@link ALIKE}: its letters, and the letters that no word may mix with them. */
const MIXTURES = ALIKE.map((script) => {
  const others = `${ofScripts([script, ...EAST_ASIAN])}\\p{Script=Common}\\p{Script=Inherited}`;
  return [new RegExp(`\\p{Script=${script}}`, 'u'), new RegExp(`(?![${others}])\\p{L}`, 'u')] as const;
});

/** The default service name; no application may have it or the operator's. */
const OWN_NAME = 'Assent';

/** Digits that look like letters, missing in Unicode's list: it has 0 and 1. */
const TWINS: Readonly<Record<string, string>> = { 2: 'z', 5: 's', 8: 'b' };

/** Symbols and pictures: a tick, a shield or a lock next to a name suggests approval. */
const MARK = /(?![©®™℠№°])[\p{So}\p{Extended_Pictographic}√]/u;

/** The end of a sentence if a name resembles another, else undefined. The very same is fine: applications may register twice. */
export function lookAlikeProblem(
  name: string,
  others: readonly string[],
  serviceNames: readonly string[] = [],
  kind = 'application',
): string | undefined {
  const mark = MARK.exec(name)?.[0];
  if (mark !== undefined) return `has ${mark}, which looks like a mark of this service`;
  const mixed = wordsOf(name).find((word) =>
    MIXTURES.some(([own, foreign]) => own.test(word) && foreign.test(word)),
  );
  if (mixed !== undefined) return `mixes letters of several scripts in one word, “${mixed}”`;
  const looks = looksOf(name);
  const isLike = (other: string) => looksOf(other).some((look) => looks.includes(look));
  const own = [OWN_NAME, ...serviceNames].find(isLike);
  if (own !== undefined) return `looks like this service’s own, “${own}”`;
  const twin = others.find((other) => other !== name && isLike(other));
  return twin && `looks like that of another ${kind}, “${twin}”`;
}

/**
 * The looks of a name: its skeleton (UTS 39 section 4) without case, accents, spaces and punctuation. Three of them: a capital
 * and its small letter may resemble different letters (I and l, В and в). For comparison only.
 */
const looksOf = memoize((name: string): readonly string[] => {
  const text = name.normalize('NFKC').replaceAll(/[258]/g, (twin) => TWINS[twin] ?? twin);
  return [text, text.toLowerCase(), text.toUpperCase()].map((spelling) => lettersOf(skeleton(spelling)));
});

/** Many names, of which it finds those like another one without comparing all: two of each look are enough. */
export function createLookAlikeIndex() {
  const byLook = new Map<string, readonly string[]>();
  return {
    add(name: string): void {
      for (const look of looksOf(name)) {
        const names = byLook.get(look) ?? [];
        if (names.length < 2 && !names.includes(name)) byLook.set(look, [...names, name]);
      }
    },
    like: (name: string) => looksOf(name).flatMap((look) => byLook.get(look) ?? []),
  };
}

/** A name of punctuation only is unchanged. */
function lettersOf(look: string): string {
  const small = look.toLowerCase();
  const letters = small.replaceAll(/[\u0300-\u036F]|[^\p{L}\p{M}\p{N}]/gu, '');
  return letters === '' ? small : letters;
}

/** The same for texts that look alike as written (UTS 39 section 4). For comparison only. */
export function skeleton(text: string): string {
  const visible = text
    .normalize('NFD')
    .replaceAll(/\p{Default_Ignorable_Code_Point}|(?<=\p{Soft_Dotted})\u0307/gu, '');
  // Unicode's list maps a small palochka to i.
  return unhomoglyph()(visible.replaceAll('ӏ', 'l')).normalize('NFD');
}

/** Scripts in modern use (UAX 31, table 5); those that one language mixes are together (UTS 39 section 5.1). */
const SCRIPTS = [
  'Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Hebrew Kannada Khmer Lao Latin',
  'Malayalam Myanmar Oriya Sinhala Tamil Telugu Thaana Thai Tibetan Han,Hiragana,Katakana Han,Hangul Han,Bopomofo',
].flatMap((line) => line.split(' ').map((together) => together.split(',')));
/** Letters without a script, such as mathematical ones, match no script. */
const OF_ANY = `[${ofScripts(['Common'])}--\\p{L}]${ofScripts(['Inherited'])}`;
const OF_ONE_SCRIPT = new RegExp(`^(?:${SCRIPTS.map((s) => `[${ofScripts(s)}${OF_ANY}]*`).join('|')})$`, 'v');

/** Each word's letters are of one script, so none is another's twin. */
export function hasWordsOfOneScript(text: string): boolean {
  return wordsOf(text).every((word) => OF_ONE_SCRIPT.test(word));
}

function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{M}\p{N}]+/u);
}
