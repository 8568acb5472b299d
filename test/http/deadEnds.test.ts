import { readFileSync } from 'node:fs';
import * as cheerio from 'cheerio';
import { describe, expect, it } from 'vitest';
import { type Cause, WAYS_ON } from '../../src/http/browser/deadEnds.ts';
import { LANGUAGES, TEXTS, type Texts } from '../../src/languages/languages.ts';
import { Agent, type Answer } from '../support/agent.ts';
import { useServer } from '../support/server.ts';
import { ROWS, type Row, SHOP, setStage } from './deadEndRows.ts';

const DOCUMENT = readFileSync(new URL('../../docs/dead-ends.md', import.meta.url), 'utf8');

const server = await useServer({ maxInstances: 1 });
const stage = await setStage(server);

/** A text as a person reads it: without the marks around names, with every kind of space as one. */
const plain = (text: string) => text.replaceAll(/[\u2068\u2069]/g, '').replaceAll(/\s+/g, ' ');

/** The addresses that the page's own links lead to, by their paths. */
function linksOf({ body }: Answer): string[] {
  const $ = cheerio.load(body);
  // The consent page links to the account page beside its form, for later.
  return $('main a:not(.answer a)')
    .toArray()
    .map((link) => ($(link).attr('href') ?? '').split('?', 1)[0] ?? '');
}

/** The names of parameters beside the reference. */
function parametersOf({ body }: Answer, { errors }: Texts): string[] {
  const $ = cheerio.load(body);
  return $('.answer .facts div')
    .toArray()
    .filter((fact) => $(fact).find('dt').text() === errors.parameter)
    .map((fact) => $(fact).find('dd').text());
}

const LINKS: Record<Row['leads'], string[]> = {
  account: ['/account'],
  request: ['/oauth/authorize'],
  'account, request': ['/account', '/oauth/authorize'],
  itself: ['/oauth/authorize'],
  form: [],
};

describe.each(LANGUAGES)('in %s the dead end', (language) => {
  it.each(ROWS)(
    '"$cause" says what happened, and leads on',
    async ({ page, status, words, leads, parameter, reach, inEnglish }) => {
      const browser = new Agent(server.baseUrl, { 'accept-language': language });
      const answer = await reach(browser, stage);
      expect([answer.status, answer.page]).toEqual([status, page]);
      const said = words(TEXTS[inEnglish ? 'en' : language]);
      for (const text of said) expect(timeless(plain(answer.text))).toContain(timeless(plain(text)));
      expect(linksOf(answer)).toEqual(LINKS[leads]);
      expect(parametersOf(answer, TEXTS[language])).toEqual(parameter === undefined ? [] : [parameter]);
      // `assent explain` is asked by the reference; forms that are shown again have none.
      const isRefusal = status >= 400 && (page === 'error' || page === 'notice');
      if (isRefusal) expect(answer.text).toContain(answer.headers.get('x-request-id'));
      if (leads === 'form') expect(answer.forms.map(({ action }) => action)).toContain(FORMS[page]);
      expect(cheerio.load(answer.body)('h1')).toHaveLength(1);
    },
  );
});

const FORMS: Partial<Record<Row['page'], string>> = {
  'sign-in': '/sign-in',
  'payment-password': '/payment-password',
  consent: '/consent',
};

/** Whichever time of day it is now. */
function timeless(text: string): string {
  return text.replaceAll(/\d\d:\d\d UTC/g, '…');
}

describe('docs/dead-ends.md', () => {
  it('has every dead end with its words, and no others', () => {
    const lines = DOCUMENT.split('\n').filter((line) => /^\| (?!Cause|Fault|Next|-)/.test(line));
    expect(lines).toEqual([
      ...ROWS.map(lineOf),
      ...Object.keys(TEXTS.en.errors.faults).map((fault) => wayLine('faults', fault)),
      ...Object.keys(TEXTS.en.errors.next).map((next) => wayLine('next', next)),
    ]);
  });
});

/** A row of the tables in the document. What many error pages have in common stands there once. */
function lineOf({ cause, page, status, words, leads }: Row): string {
  const way = Object.hasOwn(WAYS_ON, cause) ? WAYS_ON[cause as Cause] : null;
  const said = (texts: Texts) =>
    plain(
      words(texts)
        .slice(0, way === null ? undefined : 2)
        .join(' · '),
    );
  const last = way === null ? leads : `${way.fault} · ${way.next} · ${leads}`;
  return `| ${cause} | ${page}, ${status} | ${said(TEXTS.en)} | ${said(TEXTS.ru)} | ${last} |`;
}

function wayLine(group: 'faults' | 'next', name: string): string {
  const said = ({ errors }: Texts) => plain((errors[group] as Ways)[name]?.(SHOP) ?? '');
  return `| ${name} | ${said(TEXTS.en)} | ${said(TEXTS.ru)} |`;
}

type Ways = Record<string, (client: string) => string>;
