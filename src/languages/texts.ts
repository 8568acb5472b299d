import { readFileSync } from 'node:fs';
import type { Sentences } from '../../views/texts/en.d.ts';
import { FileError, parseJson, placeOf } from '../rules/common/operatorFile.ts';
import { LANGUAGE_TAG } from '../rules/common/perLanguage.ts';
import { inLanguage } from './foreign.ts';
import { FORMAT_CHOICES, type FormatChoices, type Formats, formatsOf } from './formats.ts';
import { type Message, parseMessage, withPluralCategories } from './messages.ts';

// A file of texts: messages of ICU MessageFormat in groups. Names with `@` are comments for translators. `fallback`, with which a
// file may lack texts, and the choices of formats are about the whole file.

/** A language's sentences and its formats of numbers, sums and days. */
export type Texts = Sentences & { readonly formats: Formats };

/** A file's messages by path, such as `signIn.title`. */
export interface TextFile {
  readonly choices: FormatChoices;
  readonly formats: Formats;
  readonly messages: ReadonlyMap<string, FileMessage>;
}

interface FileMessage extends Message {
  readonly names: readonly string[];
  /** As written in the file. */
  readonly source: string;
  /** The English text that this one translates, or replaces. */
  readonly english: string | undefined;
  /** True for an English text in place of one that the file lacks. */
  readonly isFallback?: boolean;
}

/** What a file is compared with: English, and the texts of its own language that it needs not repeat. */
interface Models {
  readonly english: TextFile;
  readonly own?: TextFile | undefined;
}

/** A translation needs more room than English, but not any. */
const MAX_TIMES_ENGLISH = 3;
const MIN_ROOM = 40;

/** In the menu of languages. */
const OWN_NAME = 'ownName';

/** In Russian no word leads to the rights. */
const MAY_BE_EMPTY = 'request.lead';

/** Of HTML, control and invisible characters, and those that turn the direction of what follows. */
const UNSUITABLE = /[<>]|&\w+;|[\p{Cc}\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]/u;

/** Reads the built-in texts of a language. */
export function readBuiltIn(tag: string, models?: Models): TextFile {
  const json = readFileSync(new URL(`../../views/texts/${tag}.json`, import.meta.url), 'utf8');
  return parseTexts(json, tag, models);
}

/** @throws {FileError} with a line for each fault */
export function parseTexts(json: string, tag: string, models?: Models): TextFile {
  if (!isKnownLanguage(tag))
    throw new FileError([`must be named after a language that CLDR knows, such as ${nearFileName(tag)}`]);
  const { fallback, currency, inSentence, ...groups } = Object(parseJson(json));
  const faults: string[] = [];
  if (fallback !== undefined && fallback !== 'en') faults.push('fallback must be "en"');
  const choices = readChoices({ currency, inSentence }, models?.own?.choices, faults);
  const formats = formatsOf(tag === 'en' ? 'en-GB' : tag, choices);
  const messages = readMessages(groups, formats, models?.english, faults);
  if (models !== undefined) complete(messages, models, fallback === 'en' ? formats : null, faults);
  if (faults.length > 0) throw new FileError(faults);
  return { choices, formats, messages: messages as ReadonlyMap<string, FileMessage> };
}

function readChoices(
  written: Readonly<Record<keyof FormatChoices, unknown>>,
  own: FormatChoices | undefined,
  faults: string[],
): FormatChoices {
  const choices = Object.entries(FORMAT_CHOICES).map(([name, [usual, other]]) => {
    const choice = written[name as keyof FormatChoices] ?? own?.[name as keyof FormatChoices] ?? usual;
    if (choice !== usual && choice !== other) faults.push(`${name} must be "${usual}" or "${other}"`);
    return [name, choice];
  });
  return Object.fromEntries(choices);
}

type Messages = Map<string, FileMessage | null>;

/** @returns null for a text with a fault */
function readMessages(groups: unknown, formats: Formats, english: TextFile | undefined, faults: string[]) {
  const messages: Messages = new Map();
  for (const { names, source } of leavesOf(groups)) {
    const path = placeOf(names);
    const model = english?.messages.get(path);
    try {
      if (english !== undefined && model === undefined) throw new Error('is not a text of Assent');
      if (typeof source !== 'string') throw new Error('must be a text in quotation marks');
      messages.set(path, {
        ...judged(path, source, formats, model),
        names: model?.names ?? names,
        source,
        english: model?.source,
      });
    } catch (error) {
      messages.set(path, null);
      faults.push(`${path} ${inWords(error as Error)}`);
    }
  }
  return messages;
}

/**
 * Adds the texts that a file lacks: built-in ones, or English ones, where one that still is in English counts as lacking.
 * @param fallback the file's formats if it may lack texts, else null
 */
function complete(messages: Messages, models: Models, fallback: Formats | null, faults: string[]): void {
  for (const [path, english] of models.english.messages) {
    const own = models.own?.messages.get(path);
    const written = messages.get(path);
    const isLacking = written === undefined || (fallback && isEnglish(written, english, fallback));
    if (!isLacking) continue;
    if (own !== undefined) messages.set(path, own);
    else if (fallback && path !== OWN_NAME)
      messages.set(path, { ...english, text: inEnglish(english.text), isFallback: true });
    else faults.push(`${path} is missing: “${english.source}” in English`);
  }
}

/** True for the canonical tag of a language whose plurals and formats are known. */
export function isKnownLanguage(tag: string): boolean {
  const isCanonical = LANGUAGE_TAG.test(tag) && Intl.getCanonicalLocales(tag)[0] === tag;
  return isCanonical && Intl.PluralRules.supportedLocalesOf(tag).length > 0;
}

/** The texts in their groups. */
export function nestedTexts<Own = Sentences>({ formats, messages }: TextFile): Own & Pick<Texts, 'formats'> {
  const root: Record<string, unknown> = { formats };
  for (const { names, text } of messages.values()) {
    let group = root;
    for (const name of names.slice(0, -1)) {
      group[name] ??= {};
      group = group[name] as Record<string, unknown>;
    }
    group[names.at(-1) ?? ''] = text;
  }
  return root as Own & Pick<Texts, 'formats'>;
}

/** True also for the built-in English text where an operator has another one: `assent texts new` writes it. */
function isEnglish(
  written: FileMessage | null,
  english: FileMessage,
  { pluralCategories }: Formats,
): boolean {
  const sources = [english.source, english.english ?? english.source];
  const adapted = sources.map((source) => withPluralCategories(source, pluralCategories()));
  return written !== null && [...sources, ...adapted].includes(written.source);
}

interface Leaf {
  readonly names: readonly string[];
  readonly source: unknown;
}

function leavesOf(group: unknown, names: readonly string[] = []): Leaf[] {
  if (!(group instanceof Object)) return [{ names, source: group }];
  const entries = Object.entries(group).filter(([name]) => !name.startsWith('@'));
  return entries.flatMap(([name, one]) => leavesOf(one, [...names, name]));
}

/** @param english undefined for English itself @throws what is wrong with the text, after its path */
function judged(path: string, source: string, formats: Formats, english: Message | undefined): Message {
  const message = parseMessage(source, formats);
  if (english === undefined) return message;
  if (source.trim() === '' && path !== MAY_BE_EMPTY) throw new Error('must not be empty');
  const [unsuitable] = UNSUITABLE.exec(source) ?? [];
  if (unsuitable !== undefined) throw new Error(`must not have ${nameOf(unsuitable)}`);
  const unquoted = source.replaceAll(/'[{}][^']*'/g, '');
  if (unquoted.split('{').length !== unquoted.split('}').length) throw new Error('has a } without a {');
  if (message.values !== english.values)
    throw new Error(`must be a text with ${english.values || 'no values'}`);
  if (english.inOther.some((place) => !message.inOther.includes(place)))
    throw new Error(`must keep ${english.inOther.join(' ')}, in forms “other” too`);
  const room = Math.max(MIN_ROOM, english.length * MAX_TIMES_ENGLISH);
  if (message.length > room)
    throw new Error(`is too long for its place: ${message.length} characters, at most ${room}`);
  return message;
}

function nameOf(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return /[<>&]/.test(character) ? `${character}: texts are not HTML` : `the character U+${code}`;
}

/** The parser's words about braces help no translator. */
function inWords({ message }: Error): string {
  const [, what = message, at] = /^(.*) at line 1 col (\d+):?/.exec(message) ?? [];
  if (what.startsWith('Unexpected message end')) return 'has a { that no } closes';
  return at === undefined ? what : `has words or braces that don’t fit, at character ${at}: ${what}`;
}

/** What a file was probably meant to be called. */
function nearFileName(tag: string): string {
  try {
    const [near = ''] = Intl.getCanonicalLocales(tag.replaceAll('_', '-'));
    return `${isKnownLanguage(near) ? near : 'pt-BR'}.json`;
  } catch {
    return 'pt-BR.json';
  }
}

function inEnglish(text: Message['text']): Message['text'] {
  return typeof text === 'string' ? inLanguage(text, 'en') : (values) => inLanguage(text(values), 'en');
}
