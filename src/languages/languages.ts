import Negotiator from 'negotiator';
import { lazy, memoize } from '../rules/common/memoize.ts';
import { FileError } from '../rules/common/operatorFile.ts';
import type { PerLanguage } from '../rules/common/perLanguage.ts';
import { inLanguage } from './foreign.ts';
import { nestedTexts, parseTexts, readBuiltIn, type TextFile, type Texts } from './texts.ts';

export type { Texts };

/** The tags of the texts in `views/texts/`. */
export const BUILT_IN_TAGS = ['en', 'ru'] as const;

const english = lazy(() => readBuiltIn('en'));
const builtIn = memoize((tag: string) =>
  tag === 'en' ? english() : readBuiltIn(tag, { english: english() }),
);

const textsOfFile = memoize(nestedTexts);

/** The built-in texts, read on first use. Codes, JSON, commands and the log are in English, whatever an operator offers. */
export const TEXTS = {} as Readonly<Record<(typeof BUILT_IN_TAGS)[number], Texts>>;
for (const tag of BUILT_IN_TAGS)
  Object.defineProperty(TEXTS, tag, { enumerable: true, get: () => textsOfFile(builtIn(tag)) });

/** A language that pages are offered in. */
export interface Language {
  /** Its tag (BCP 47), such as `pt-BR`. */
  readonly tag: string;
  readonly texts: Texts;
  /** Of the language of an operator's text that is not in this one. */
  readonly defaultTag: string;
}

// More than browsers send; the rest of a request costs nothing.
const MAX_HEADER_CHARACTERS = 500;
const MAX_ASKED = 10;
const MAX_TAG_CHARACTERS = 35;

/** The languages that pages are offered in (`LANGUAGES`). */
export class Languages {
  readonly all: readonly Language[];
  readonly #default: Language;
  readonly #tags: readonly string[];

  /** @param all the first is the default */
  constructor(all: readonly [Language, ...Language[]]) {
    [this.#default] = all;
    this.all = all;
    this.#tags = all.map(({ tag }) => tag);
  }

  /** Undefined for a language that is not offered. */
  find(tag: string | null | undefined): Language | undefined {
    return this.all.find((one) => one.tag === tag);
  }

  /** The language of the first of these tags that is near to one: Russian for ru-KZ. */
  nearest(tags: readonly string[]): Language | undefined {
    for (const tag of tags.slice(0, MAX_ASKED)) {
      const near = nearestTag(tag.slice(0, MAX_TAG_CHARACTERS), this.#tags);
      if (near !== undefined) return this.find(near);
    }
    return undefined;
  }

  /** The language that an `Accept-Language` header prefers (RFC 9110 section 12.5.4). */
  preferred(header: string): Language {
    return this.#preferred(header.length > MAX_HEADER_CHARACTERS ? '' : header);
  }

  readonly #preferred = memoize((header: string): Language => {
    const accepted = new Negotiator({ headers: { 'accept-language': header } }).languages();
    return this.nearest(accepted) ?? this.#default;
  });
}

/**
 * The texts of an operator's folder by tag. That of a built-in language, or of a region beside its language, needs only what
 * differs. @param files by tag @throws {FileError} with a line for each fault
 */
export function readTextFiles(files: ReadonlyMap<string, string>): ReadonlyMap<string, TextFile> {
  const faults: string[] = [];
  const texts = new Map<string, TextFile>();
  // English first, then languages, then their regions: each may lack what one before it has.
  const rankOf = (tag: string) => (tag === 'en' ? 0 : localeOf(tag)?.base === tag ? 1 : 2);
  const inOrder = [...files].sort(([one], [other]) => rankOf(one) - rankOf(other));
  for (const [tag, json] of inOrder) {
    try {
      const base = localeOf(tag)?.base ?? '';
      const own = texts.get(base) ?? (isBuiltIn(base) ? builtIn(base) : undefined);
      texts.set(tag, parseTexts(json, tag, { english: texts.get('en') ?? english(), own }));
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      faults.push(...error.problems.map((problem) => `${tag}.json: ${problem}`));
    }
  }
  if (faults.length > 0) throw new FileError(faults);
  return texts;
}

/** @param texts of the operator @param tags of the languages to offer, each built in or of the operator: the first is the default */
export function languagesOf(texts: ReadonlyMap<string, TextFile>, tags: readonly string[]): Languages {
  const [defaultTag = 'en'] = tags;
  const offered = tags.map((tag) => ({
    tag,
    texts: textsOfFile(texts.get(tag) ?? builtIn(tag)),
    defaultTag,
  }));
  return new Languages(offered as [Language, ...Language[]]);
}

export const isBuiltIn = (tag: string) => (BUILT_IN_TAGS as readonly string[]).includes(tag);

/** Without an operator's settings. */
export const BUILT_IN_LANGUAGES = lazy(() => languagesOf(new Map(), BUILT_IN_TAGS));

/** An operator's text as a page shows it: marked, if it is in another language than the page. */
export function textIn(text: PerLanguage, { tag, defaultTag }: Pick<Language, 'tag' | 'defaultTag'>): string {
  const own = text[tag] ?? text[''];
  if (own !== undefined) return own;
  const tags = Object.keys(text);
  const near = nearestTag(tag, tags);
  const shown = near ?? nearestTag(defaultTag, tags) ?? tags[0] ?? '';
  return near === undefined ? inLanguage(text[shown] ?? '', shown) : (text[shown] ?? '');
}

/** True if a text is not in a language, so that pages show another one. */
export function lacks(text: PerLanguage, tag: string): boolean {
  return text[''] === undefined && nearestTag(tag, Object.keys(text)) === undefined;
}

/**
 * The nearest of some tags: by lookup (RFC 4647 section 3.4), or of another region. Another script is another language to its
 * readers, so `zh` is not near to `zh-Hant`.
 */
function nearestTag(range: string, tags: readonly string[]): string | undefined {
  const wanted = localeOf(range);
  const near = tags.filter((tag) => wanted !== null && localeOf(tag)?.script === wanted.script);
  const prefixes = near.filter((tag) => `${wanted?.tag}-`.startsWith(`${tag}-`));
  return prefixes.sort((one, other) => other.length - one.length)[0] ?? near[0];
}

/** A tag in its canonical case, its language with the script, and its tag without a region; null if it is not one. */
const localeOf = memoize((tag: string) => {
  try {
    const { language, script } = new Intl.Locale(tag).maximize();
    const base = new Intl.Locale(language).maximize().script === script ? language : `${language}-${script}`;
    return { tag: new Intl.Locale(tag).baseName, script: `${language}-${script}`, base };
  } catch {
    return null;
  }
});

/** A text that may have values. */
export function withValues<Values>(text: string | ((values: Values) => string), values: Values): string {
  return typeof text === 'string' ? text : text(values);
}
