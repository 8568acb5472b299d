import * as cheerio from 'cheerio';
import { expect, it } from 'vitest';
import { BUILT_IN_TAGS, TEXTS } from '../../../src/languages/languages.ts';
import { DEAD_ENDS, setStage } from '../../pages/deadEnds.ts';
import { BUILT_IN_LOOK } from '../../pages/looks.ts';
import { renderPage } from '../../pages/rendering.ts';
import { pageSamplesIn } from '../../pages/samples.ts';
import { Agent, type Answer } from '../../support/http/agent.ts';
import { useServer } from '../../support/server.ts';

// The front door leads to every dead end and shows its sample: a whole error or notice, or the note above a form that is
// shown again. test/pages/outlines has the texts of the samples.

const server = await useServer({ maxInstances: 2 });
const stage = await setStage(server);

const FORMS: Readonly<Record<string, string>> = {
  'sign-in': '/oauth/sign-in',
  consent: '/oauth/consent',
  account: '/oauth/account/disconnect-all',
  stop: '/oauth/account/stop',
};

/** The languages take turns: the outlines have each sample in each. */
const SHOWN = DEAD_ENDS.map((deadEnd, at) => ({
  ...deadEnd,
  language: BUILT_IN_TAGS[at % BUILT_IN_TAGS.length] ?? 'en',
}));

it.each(SHOWN)(
  'an error page or note explains the problem and links onward: $name, $language',
  async (shown) => {
    const { name, language, reach, ...deadEnd } = shown;
    const sample = pageSamplesIn(language)[name];
    if (sample === undefined) throw new Error(`no sample ${name}`);
    const html = await renderPage(sample, language, BUILT_IN_LOOK, '');
    const { status, page = sample.name } = deadEnd;

    const answer = await reach(new Agent(server.baseUrl, { 'accept-language': language }), stage);
    expect([answer.status, answer.page]).toEqual([status, page]);
    const form = FORMS[page];
    if (form === undefined) {
      expect(mainOf(answer.body)).toBe(mainOf(html));
      // `assent explain` needs the reference.
      if (status >= 400) expect(answer.text).toContain(answer.headers.get('x-request-id'));
    } else {
      expect(noteOf(answer.body)).toBe(noteOf(html));
      expect(answer.forms.map(({ action }) => action)).toContain(form);
      const ways = name === 'consent after allowed' ? ['/oauth/return'] : [];
      if (page !== 'account' && page !== 'stop')
        expect(linksOf(answer).map((way) => way?.replace(/\?.*/, ''))).toEqual(ways);
      expect(cheerio.load(answer.body)('h1')).toHaveLength(1);
    }
  },
);

it.each(['/oauth/confirm', '/oauth/receipt', '/oauth/return'])(
  '%s without a request says that only buttons lead there',
  async (path) => {
    const answer = await new Agent(server.baseUrl).get(path);
    expect([answer.status, answer.page]).toEqual([400, 'error']);
    expect(answer.text).toContain(TEXTS.en.errors.causes.notAllowed.title);
  },
);

/** The main part, without the reference, the port, and the request of each link. */
function mainOf(html: string): string {
  const main = cheerio.load(html)('main').prop('outerHTML') ?? '';
  const shown = main.replaceAll(/href="([^"?]*)\?[^"]*"/g, 'href="$1"').replace(/localhost:\d+/, 'localhost');
  return shown.replace(/[0-9a-f]{10}|k3v9-7qxp/, '…');
}

/** The note above a form, without the time of day and the host. */
function noteOf(html: string): string {
  const note = cheerio.load(html)('main p.note[role]').text();
  return note.replaceAll(/\d\d:\d\d UTC/g, '…').replaceAll('localhost', 'pay.example');
}

function linksOf({ body }: Answer): (string | undefined)[] {
  const $ = cheerio.load(body);
  return $('main a:not(.asked a)')
    .toArray()
    .map((link) => $(link).attr('href'));
}
