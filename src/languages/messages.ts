import { createRequire } from 'node:module';
import type * as icu from '@messageformat/parser';
import { lazy } from '../rules/common/memoize.ts';
import { type Formats, isolated } from './formats.ts';

/** Makes a text of its values, by name. */
type Sentence = (values: Readonly<Record<string, string | number>>) => string;

/** Values in our own words. Every other one is a name, which is isolated. */
const OWN_WORDS = new Set([
  ...['acts', 'after', 'amount', 'before', 'browser', 'currency', 'day', 'device', 'lastUse', 'limit'],
  ...['most', 'number', 'system', 'target', 'time', 'title', 'wait', 'zone'],
]);

// On first use: most commands show no texts.
const parser = lazy((): typeof icu => createRequire(import.meta.url)('@messageformat/parser'));

/** Parses a message of ICU MessageFormat. @returns the text, and its values such as `{client} {days, number}` */
export function parseMessage(message: string, formats: Formats) {
  // A number stays on one line with the words around it.
  const unbroken = message.replaceAll(/(?<=#) (?=\p{L})|(?<=\p{L}) (?=#)/gu, '\u00a0');
  const names = new Set<string>();
  const sentence = sentenceOf(parser().parse(unbroken), { formats, names, counted: '' });
  const values = [...names].sort().join(' ');
  return { text: values === '' ? sentence({}) : sentence, values };
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
    const choose = casesOf(token, { ...place, counted: name });
    names.add(`{${name}, number}`);
    return (values) => choose(`=${values[name]}`, formats.plural(Number(values[name])))(values);
  }
  if (token.type === 'octothorpe' || (token.type === 'function' && token.key === 'number')) {
    names.add(`{${name}, number}`);
    return (values) => formats.number(Number(values[name]));
  }
  names.add(`{${name}}`);
  if (token.type === 'select') {
    const choose = casesOf(token, place);
    return (values) => choose(String(values[name]))(values);
  }
  if (token.type !== 'argument') throw new Error(`must not have ${token.ctx.text}`);
  return OWN_WORDS.has(name) ? (values) => String(values[name]) : (values) => isolated(String(values[name]));
}

function casesOf({ arg, cases }: icu.Select, place: Place) {
  const sentences = new Map(cases.map(({ key, tokens }) => [key, sentenceOf(tokens, place)]));
  const other = sentences.get('other');
  if (other === undefined) throw new Error(`must have a case “other” of {${arg}}`);
  return (exact: string, category = 'other') => sentences.get(exact) ?? sentences.get(category) ?? other;
}
