import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { en } from '../../src/languages/en.ts';
import { LANGUAGES, TEXTS } from '../../src/languages/languages.ts';
import { leavesOf } from './leaves.ts';

const ROOT = join(import.meta.dirname, '../..');

/** What refers to texts: all sources but the languages themselves, and all templates. */
const sources = [...filesIn('src', '.ts'), ...filesIn('views', '.eta')]
  .filter((file) => !/languages\/(\w\w|formats)\.ts$/.test(file))
  .map((file) => readFileSync(join(ROOT, file), 'utf8'));

/** Groups that are read by a computed name, each with the type that says which names there are. */
const BY_TYPE = [
  ...['rights', 'targets', 'sources', 'errors.titles', 'errors.reasons'],
  ...[
    'request.changes.labels',
    'request.cannot.bounds',
    'history.kinds',
    'security.form.problems',
    'consent.limits.problems',
  ],
  ...['rights', 'sources', 'types'].map((group) => `demo.compose.${group}`),
  ...['tamperings', 'tampered'].map((group) => `demo.request.${group}`),
  ...['home.lessons', 'ways', 'messages', 'errors', 'verdicts', 'notices'].map((group) => `demo.${group}`),
];

/** Every text by its path, for example `signIn.title`, with the text or what makes it. */
const texts = leavesOf(en).filter(({ path }) => !BY_TYPE.some((group) => path.startsWith(`${group}.`)));

describe('the texts', () => {
  it.each(LANGUAGES)('of %s quote nothing of others, whose marks could end the quotation', (language) => {
    const quoting = leavesOf(TEXTS[language]).flatMap(({ path, group, name, text }) => {
      if (typeof text !== 'function' || path.startsWith('formats.')) return [];
      const inside = Array.from({ length: text.length }, () => 'OTHER');
      const said = (group as Record<string, (...inside: string[]) => unknown>)[name]?.(...inside);
      return /[“«][^”»]*OTHER/.test(String(said)) ? [path] : [];
    });
    // The operator's name of the service, and ours of a page.
    const ofService = language === 'ru' ? ['layout.passwordsHereOnly', 'request.reviewed'] : [];
    expect(quoting).toEqual([...ofService, 'consent.leadsTo']);
  });

  it.each(texts.map(({ path }) => path))('%s is used', (path) => {
    // A page takes the title and text of a group by spreading it.
    const names = path
      .replace(/\.(title|text)$/, '')
      .split('.')
      .map((name) => new RegExp(`\\b${name}\\b`));
    expect(sources.some((source) => names.every((name) => name.test(source)))).toBe(true);
  });

  it.each(filesIn('views', '.eta'))('%s has no words of its own', (file) => {
    const template = readFileSync(join(ROOT, file), 'utf8');
    const words = template
      .replaceAll(/<%[\s\S]*?%>/g, '')
      .replaceAll(/<!?[\w/][^>]*>/g, '')
      .replaceAll(/&\w+;|Assent/g, '');
    expect(words.trim()).not.toMatch(/\p{L}/u);
  });

  it.each(LANGUAGES)('of %s are finished, and none but names is left in another script', (language) => {
    for (const { path, text } of leavesOf(TEXTS[language])) {
      if (typeof text !== 'string') continue;
      expect(text.trim(), path).toBe(text);
      expect(text, path).not.toBe('');
      // Of Latin letters Russian texts have names only, and what stands in backquotes.
      const words = text.replaceAll(/`[^`]+`|Assent|URL|UTC|Caps Lock|\{target\}/g, '');
      if (language === 'ru') expect(words, path).not.toMatch(/[A-Za-z]/);
      else expect(words, path).not.toMatch(/\p{Script=Cyrillic}/u);
    }
  });
});

function filesIn(folder: string, extension: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(extension))
    .map((file) => join(folder, file));
}
