import { dictionary } from '@zxcvbn-ts/language-common';

/** Letters of the Russian keyboard; below each, its key's Latin letter. */
const RUSSIAN = 'йцукенгшщзхъфывапролджэячсмитьбюё';
const KEYS = "qwertyuiop[]asdfghjkl;'zxcvbnm,.`";
const KEY_OF = new Map([...RUSSIAN].map((letter, at) => [letter, KEYS[at] ?? '']));

const COMMON: ReadonlySet<string> = new Set(dictionary['passwords-common']);

/** Shortest name that counts if the password has other text around it. */
const MIN_NAME_LETTERS = 4;

/** Among attackers' first guesses: a most leaked password, one repeated character, a row of the alphabet or the keyboard. */
export function isCommonPassword(password: string): boolean {
  const typed = comparable(password);
  const keys = [...typed].map((letter) => KEY_OF.get(letter) ?? letter).join('');
  return COMMON.has(typed) || COMMON.has(keys) || KEYS.includes(keys) || isRow(typed);
}

/** Each character is the same step from the previous one: one or zero. */
function isRow(text: string): boolean {
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0);
  const steps = new Set(codes.slice(1).map((code, at) => code - (codes[at] ?? 0)));
  const [step = 0] = steps;
  return steps.size === 1 && Math.abs(step) <= 1;
}

/** A password made of one of these names, such as the login `anna.petrova` for `AnnaPetrova2026!`. */
export function isOwnName(password: string, names: readonly string[]): boolean {
  const [typed, typedName] = [charactersOf(password), nameIn(password)];
  const isLong = typedName.length >= MIN_NAME_LETTERS;
  return names.some(
    (name) => (typed !== '' && typed === charactersOf(name)) || (isLong && typedName === nameIn(name)),
  );
}

function charactersOf(text: string): string {
  return comparable(text).replaceAll(/[^\p{L}\p{N}]/gu, '');
}

function nameIn(text: string): string {
  return charactersOf(text).replaceAll(/^\p{N}+|\p{N}+$/gu, '');
}

function comparable(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
