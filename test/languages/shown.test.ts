import * as cheerio from 'cheerio';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { BUILT_IN_TAGS, TEXTS } from '../../src/languages/languages.ts';
import type { Page } from '../pages/rendering.ts';
import { PSEUDO_STATES, statesOf } from '../pages/states.ts';
import { leavesOf } from './leaves.ts';

// Every text is on a page of the samples: each state with a text has a sample. No page has words of another language.

type Sentence = (values: object) => string;

/** Texts that only the script shows (the other word of a button, a hint), a proxy, messages to users, and pages for operators. */
const ON_NO_PAGE = /^(password\.(hide|capsLock)$|tooManyRequests\.|messages\.|support\.)/;

afterAll(() => void vi.restoreAllMocks());

describe.each(BUILT_IN_TAGS)('in %s', async (language) => {
  const texts = leavesOf(TEXTS[language]).filter(
    ({ path }) => !path.startsWith('formats.') && !ON_NO_PAGE.test(path),
  );
  const leaves = texts.map(({ path, group, name, text }) => {
    if (typeof text === 'string') return { path, wordings: () => [text] };
    // The catalogue keeps these, with the mark of their target.
    if (path.startsWith('rights.'))
      return { path, wordings: () => [(text as Sentence)({ target: '{target}' })] };
    const { mock } = vi.spyOn(group as Record<string, Sentence>, name);
    return { path, wordings: () => mock.results.map(({ value }) => String(value)) };
  });
  // The brand that has support and a legal line.
  const states = await statesOf(language, 'full');
  const pages = states.map(({ html }) => readable(cheerio.load(html)));

  it.each(leaves)('the text $path is shown on a sample page', ({ wordings }) => {
    const shown = wordings().some((wording) => pages.some((page) => isOn(page, wording)));
    expect(shown, wordings().join('\n')).toBe(true);
  });

  it('no page has a word of another language, except names, addresses and code', () => {
    const foreign = language === 'ru' ? /[A-Za-z]+/g : /\p{Script=Cyrillic}+/gu;
    // Hostile names are whole texts, without words of ours.
    const found = states
      .filter(({ name }) => !name.includes('hostile'))
      .map(({ name, html, page }) => [name, ownWords(html, language, page).match(foreign)] as const);
    expect(found.filter(([, words]) => words !== null)).toEqual([]);
  });
});

it('no page in a language of the operator’s has an English word, except names', () => {
  const found = PSEUDO_STATES.filter(({ language, name }) => language === 'ar' && !name.includes('hostile'))
    .map(({ name, html, page }) => [name, ownWords(html, 'ar', page).match(/[A-Za-z]{2,}/g)] as const)
    .filter(([, words]) => words !== null);
  expect(found).toEqual([]);
});

/** Assent's own words on a page, seen or heard. */
function ownWords(html: string, language: string, page: Page): string {
  // Names are isolated in titles too, which hold no elements. Labels repeat the names of their page.
  const $ = cheerio.load(html.replaceAll(/\u2068[^\u2069]*\u2069/g, ''));
  const names = $('bdi')
    .toArray()
    .map((name) => $(name).text())
    .toSorted((one, other) => other.length - one.length);
  for (const element of $('[aria-label]').toArray())
    for (const name of names)
      $(element).attr('aria-label', $(element).attr('aria-label')?.replaceAll(name, ''));
  const asker = 'client' in page ? page.client : null;
  if (asker !== null) $('title').text($('title').text().replace(asker.name, ''));
  $(`bdi, code, footer a[href*=":"], [lang]:not(html, [lang=${language}])`).remove();
  // Browsers, and a site without a brand, have one name in all languages.
  return readable($).replaceAll(/Assent|UTC|IP|cookie|Firefox|Linux|(?<=\d\.)x/g, '');
}

function readable($: cheerio.CheerioAPI): string {
  $('style, script').remove();
  const attributes = ['aria-label', 'title', 'alt', 'placeholder'].flatMap((name) =>
    $(`[${name}]`)
      .toArray()
      .map((element) => $(element).attr(name)),
  );
  return plain([$.root().text(), ...attributes].join(' '));
}

/** @param wording with `{target}` where a name stands */
function isOn(page: string, wording: string): boolean {
  return plain(wording)
    .split('{target}')
    .every((part) => page.includes(part));
}

function plain(text: string): string {
  return text.replaceAll(/[\u2068\u2069]/g, '').replaceAll(/\s+/g, ' ');
}
