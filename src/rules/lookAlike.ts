import unhomoglyph from 'unhomoglyph';

/** Scripts whose letters look like those of the others. */
const ALIKE = ['Latin', 'Cyrillic', 'Greek'];
/** Written together with Latin letters in one word, and not to be taken for them. */
const EAST_ASIAN = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Bopomofo'];

const oneOf = (scripts: readonly string[]) =>
  scripts.map((script) => `\\p{Script_Extensions=${script}}`).join('');

/** For each of the scripts: whether a word has a letter of it, and whether it has one that doesn't go with it. */
const MIXTURES = ALIKE.map((script) => ({
  own: new RegExp(`\\p{Script=${script}}`, 'u'),
  foreign: new RegExp(
    `(?![${oneOf([script, ...EAST_ASIAN])}\\p{Script=Common}\\p{Script=Inherited}])\\p{L}`,
    'u',
  ),
}));

/** What this service calls itself; no application has its name. */
const OWN_NAME = 'Assent';

/** What is alike to the eye, and not in Unicode's list: it has 0 and 1, and takes a small palochka for an i. */
const TWINS: Readonly<Record<string, string>> = { 2: 'z', 5: 's', 8: 'b', ӏ: 'l' };

/** Symbols and pictures: a tick, a shield or a lock beside a name says that somebody has looked at it. */
const MARK = /(?![©®™℠№°])[\p{So}\p{Extended_Pictographic}√]/u;

/**
 * Why an application's name could be taken for something else than it is, as the end of a sentence; `undefined` when it
 * can't. Names of applications that are the same are not meant: several registrations of one application have one name.
 *
 * @param others names of the other applications
 */
export function lookAlikeProblem(name: string, others: readonly string[]): string | undefined {
  const mark = MARK.exec(name)?.[0];
  if (mark !== undefined) return `has ${mark}, which could be taken for a mark of ours`;
  const mixed = name.split(/[^\p{L}\p{M}\p{N}]+/u).find(isMixed);
  if (mixed !== undefined) return `mixes letters of several scripts in one word, “${mixed}”`;
  const looks = looksOf(name);
  if (looksOf(OWN_NAME).some((look) => looks.includes(look)))
    return `looks like this service’s own, “${OWN_NAME}”`;
  const twin = others.find((other) => other !== name && looksOf(other).some((look) => looks.includes(look)));
  return twin && `looks like that of another application, “${twin}”`;
}

function isMixed(word: string): boolean {
  return MIXTURES.some(({ own, foreign }) => own.test(word) && foreign.test(word));
}

/**
 * What a name looks like: its skeleton (UTS 39 section 4) without case, accents, spaces and punctuation. Three of them,
 * since a capital may look like another letter than the small one does (I and l, В and в). Not shown to anybody: it is
 * no name.
 */
function looksOf(name: string): string[] {
  const text = name.normalize('NFKC').replaceAll(/[258ӏ]/g, (twin) => TWINS[twin] ?? twin);
  return [text, text.toLowerCase(), text.toUpperCase()].map((spelling) => lettersOf(skeleton(spelling)));
}

/** A name of nothing but punctuation is left as it is. */
function lettersOf(look: string): string {
  const small = look.toLowerCase();
  const letters = small.replaceAll(/[\u0300-\u036F]|[^\p{L}\p{M}\p{N}]/gu, '');
  return letters === '' ? small : letters;
}

function skeleton(text: string): string {
  const visible = text.normalize('NFD').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
  return unhomoglyph(visible).normalize('NFD');
}
