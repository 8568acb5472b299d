import { createRequire } from 'node:module';
import type * as icu from '@messageformat/parser';
import { lazy } from '../rules/common/memoize.ts';
import { type Formats, isolated } from './formats.ts';

/** Makes a text of its values, by name. */
export type Sentence = (values: Readonly<Record<string, string | number>>) => string;

/** A parsed message of ICU MessageFormat. */
export interface Message {
  /** A function if the message has values. */
  readonly text: string | Sentence;
  /** Such as `{client} {days, number}`. */
  readonly values: string;
  /** The values in the forms “other” of its choices, and the cases of choices by a word: `{day: never}`, `{day}`. */
  readonly inOther: readonly string[];
  /** Characters of its longest form, where a value counts as {@link VALUE_CHARACTERS}. */
  readonly length: number;
}

/** Values in our own words. Every other one is a name, which is isolated. */
const OWN_WORDS = new Set([
  ...['acts', 'after', 'amount', 'before', 'browser', 'currency', 'day', 'device', 'lastUse', 'limit'],
  ...['link', 'most', 'network', 'number', 'system', 'target', 'time', 'title', 'total', 'wait', 'zone'],
]);

/** In the order in which translators know them. */
const CATEGORIES = ['zero', 'one', 'two', 'few', 'many'];

const VALUE_CHARACTERS = 10;

// On first use: most commands show no texts.
const parser = lazy((): typeof icu => createRequire(import.meta.url)('@messageformat/parser'));

/** @throws an error whose first line says what is wrong with the message */
export function parseMessage(message: string, formats: Formats): Message {
  // Most texts are plain, and the parser is slow.
  if (!/[{}']/.test(message)) return { text: message, values: '', inOther: [], length: message.length };

  // A number stays on one line with the words around it.
  const unbroken = message.replaceAll(/(?<=#) (?=\p{L})|(?<=\p{L}) (?=#)/gu, '\u00a0');
  const names = new Set<string>();
  const tokens = parser().parse(unbroken, { cardinal: [...formats.pluralCategories()] });
  const sentence = sentenceOf(tokens, { formats, names, counted: '' });
  const values = [...names].sort().join(' ');
  const inOther = [...new Set(placesIn(tokens))].sort();
  return { text: values === '' ? sentence({}) : sentence, values, inOther, length: lengthOf(tokens) };
}

function placesIn(tokens: readonly icu.Token[], counted = ''): string[] {
  return tokens.flatMap((token) => {
    if (token.type === 'content') return [];
    if (token.type === 'octothorpe') return [`{${counted}}`];
    const place = `{${token.arg}}`;
    if (!('cases' in token)) return [place];
    const other = token.cases.find(({ key }) => key === 'other');
    const inOther = placesIn(other?.tokens ?? [], token.type === 'plural' ? token.arg : counted);
    if (token.type === 'plural') return inOther;
    const words = token.cases.filter(({ key }) => key !== 'other');
    // With no other case it stands for a value that the language leaves out.
    return words.length === 0
      ? [place, ...inOther]
      : [...words.map(({ key }) => `{${token.arg}: ${key}}`), ...inOther];
  });
}

/** The message with a case for each plural category of a language, and for no other: new ones are copies of “other”. */
export function withPluralCategories(message: string, categories: readonly string[]): string {
  const writtenCases = ({ type, cases }: icu.Select): string[] => {
    const texts = new Map(cases.map(({ key, tokens }) => [key, written(tokens)]));
    const others = cases.map(({ key }) => key).filter((key) => !CATEGORIES.includes(key) && key !== 'other');
    const needed = CATEGORIES.filter((category) => categories.includes(category));
    const keys = type === 'plural' ? [...others, ...needed, 'other'] : cases.map(({ key }) => key);
    return keys.map((key) => `${key} {${texts.get(key) ?? texts.get('other')}}`);
  };
  const writtenToken = (token: icu.Token): string => {
    if (token.type === 'content') return token.value.replaceAll("'", "''").replaceAll(/[{}#]/g, "'$&'");
    if (token.type === 'octothorpe') return '#';
    if ('cases' in token) return `{${token.arg}, ${token.type}, ${writtenCases(token).join(' ')}}`;
    return `{${token.arg}${'key' in token ? `, ${token.key}` : ''}}`;
  };
  const written = (tokens: readonly icu.Token[]): string => tokens.map(writtenToken).join('');
  return written(parser().parse(message));
}

function lengthOf(tokens: readonly icu.Token[]): number {
  const lengths = tokens.map((token) => {
    if (token.type === 'content') return token.value.length;
    return 'cases' in token ? Math.max(...token.cases.map((one) => lengthOf(one.tokens))) : VALUE_CHARACTERS;
  });
  return lengths.reduce((sum, length) => sum + length, 0);
}

/** @param names of the values so far @param counted the one that `#` shows */
type Place = { readonly formats: Formats; readonly names: Set<string>; readonly counted: string };

function sentenceOf(tokens: readonly icu.Token[], place: Place): Sentence {
  const parts = tokens.map((token) => (token.type === 'content' ? token.value : partOf(token, place)));
  return (values) => parts.map((part) => (typeof part === 'string' ? part : part(values))).join('');
}

function partOf(token: Exclude<icu.Token, icu.Content>, place: Place): Sentence {
  const { formats, names, counted } = place;
  const name = 'arg' in token ? token.arg : counted;
  if (token.type === 'plural' && !token.pluralOffset) {
    requireCategories(token, formats);
    const choose = casesOf(token, { ...place, counted: name });
    names.add(`{${name}, number}`);
    return (values) => choose(`=${values[name]}`, formats.plural(Number(values[name])))(values);
  }
  if (
    token.type === 'octothorpe' ||
    (token.type === 'function' && token.key === 'number' && token.param === undefined)
  ) {
    names.add(`{${name}, number}`);
    return (values) => formats.number(Number(values[name]));
  }
  names.add(`{${name}}`);
  if (token.type === 'select') {
    const choose = casesOf(token, place);
    return (values) => choose(String(values[name]))(values);
  }
  if (token.type !== 'argument') throw new Error(`must not have ${token.ctx.text}`);
  // From right to left, sums and names of programs are of the other direction, too.
  const isPlain = OWN_WORDS.has(name) && formats.direction === 'ltr';
  return isPlain ? (values) => String(values[name]) : (values) => isolated(String(values[name]));
}

function casesOf({ arg, cases }: icu.Select, place: Place) {
  const sentences = new Map(cases.map(({ key, tokens }) => [key, sentenceOf(tokens, place)]));
  const other = sentences.get('other');
  if (other === undefined) throw new Error(`must have a case “other” of {${arg}}`);
  return (exact: string, category = 'other') => sentences.get(exact) ?? sentences.get(category) ?? other;
}

/** Each category of the language (CLDR) needs its case, unless the cases list all of its numbers. */
function requireCategories({ arg, cases }: icu.Select, { pluralCategories, numbersOf }: Formats): void {
  const keys = new Set(cases.map(({ key }) => key));
  const isListed = (category: string) => {
    const numbers = numbersOf(category);
    return numbers.length > 0 && numbers.every((number) => keys.has(`=${number}`));
  };
  const missing = pluralCategories().find((category) => !keys.has(category) && !isListed(category));
  if (missing !== undefined) throw new Error(`must have a case “${missing}” of {${arg}}`);
}
