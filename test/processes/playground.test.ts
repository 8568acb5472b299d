import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import * as cheerio from 'cheerio';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Agent } from '../support/http/agent.ts';
import { useFolder } from '../support/process/folder.ts';
import { Player, type Shown } from '../support/process/playground.ts';
import { credentials, freePair, startTrial, useTrial } from '../support/process/trial.ts';

// The lessons of trial mode's demo application, over HTTP.

const trial = await useTrial({ CODE_LIFETIME_SECONDS: '20' });

const player = (headers = {}) => new Player(trial, trial.baseUrl, headers);
const last = (messages: Shown[]) => messages.at(-1)?.title;
let instances = 0;
const FILE = 'examples/oauthClient.mjs';
/** A new name, so that tests don't annul each other's tokens. */
const instance = () => ({ instance_name: `lesson ${++instances}` });

it.each(['en', 'ru'])('every link of the demo leads to a page or a program: %s', async (language) => {
  const person = player({ 'accept-language': language });
  const links = new Set<string>();
  const collect = async (path: string) => {
    const $ = cheerio.load((await person.shop.get(path)).body);
    for (const link of $('a, link[rel=stylesheet], script').toArray())
      links.add(new URL($(link).attr('href') ?? $(link).attr('src') ?? '', trial.open).href);
  };
  await person.shop.post('/register', { name: 'My Shop', redirect_uri: 'http://localhost:8080/back' });
  await person.ask('account-info', instance());
  await collect('/request');
  await person.send();
  for (const path of ['/story', '/', '/nowhere']) await collect(path);
  const shown = [...links].map((link) => link.replace(trial.open, '').replace(trial.baseUrl, 'server'));
  expect(shown).toEqual(expect.arrayContaining(['/story', '/#compose', 'server/oauth/account', `/${FILE}`]));
  for (const link of links) {
    const answer = await fetch(link);
    expect(answer.status, link).toBe(200);
    const isFile = link.endsWith(FILE);
    const type = isFile ? /^text\/plain; charset=utf-8$/ : /^text\/(html|css|javascript);/;
    expect(answer.headers.get('content-type'), link).toMatch(type);
    if (isFile) expect(await answer.text()).toBe(readFileSync(FILE, 'utf8'));
  }
});

describe('a connection of the demo', () => {
  it('shows the request, the redirect and the exchange, with masked secret and token', async () => {
    const messages = await player().connect('account-info', instance());
    const [request, back, exchange] = messages.map(({ text }) => text);
    expect(request).toMatch(/POST http:\/\/localhost:\d+\/oauth\/authorize.+code_challenge_method=S256/);
    expect(back).toMatch(/GET http:\/\/127\.0\.0\.1:\d+\/callback ?state=\S+ code=assent_ac_/);
    expect(exchange).toMatch(
      /client_secret=•+ code_verifier=\S{14}…\S{4} .+"access_token": "assent_at_.{4}…/,
    );
    expect(exchange).not.toMatch(/assent_at_[\w-]{10}/);
  });

  it('ends at a URL without the code, and ignores a repeated response', async () => {
    const person = player();
    await person.ask('account-info', instance());
    const answer = await person.bringAnswer();
    expect((await person.shop.get(answer)).location).toBe('/story');
    expect((await person.shop.get(answer)).location).toBe('/story');
    expect(last(await person.messages())).toBe('The shop drops this answer');
    expect(last(await person.press('/introspect'))).toBe('What the token allows');
  });
});

describe('a custom application', () => {
  const BACK = 'http://localhost:8080/back';
  const askAs = (baseUrl: string, client_id: string) => {
    const fields = { client_id, response_type: 'code', redirect_uri: BACK, scope: 'account-info' };
    return new Agent(baseUrl).post('/oauth/authorize', fields);
  };

  const register = async (person: Player, redirect_uri: string) => {
    const answer = await person.shop.post('/register', { name: 'My Shop', redirect_uri });
    expect(answer.location).toBe('/#own');
    return cheerio.load((await person.shop.get('/')).body)('#own');
  };

  it('is registered until the next start, and shown only to the visitor who registered it', async () => {
    const variables = { PORT: String(await freePair()), DATA_DIR: useFolder(onTestFinished) };
    const first = await startTrial(variables);
    const visitor = () => new Player(credentials(first), first.baseUrl);
    const id = (await register(visitor(), BACK)).find('dd code').eq(2).text();
    expect(await askAs(first.baseUrl, id)).toMatchObject({ status: 303 });
    expect(cheerio.load((await visitor().shop.get('/')).body)('#own dd').length).toBe(0);
    await first.stop();
    const next = await startTrial(variables);
    expect(await askAs(next.baseUrl, id)).toMatchObject({ status: 400, page: 'error' });
    await next.stop();
  });

  it('is refused with a sentence for an invalid redirect URI, and the form keeps its input', async () => {
    const own = await register(player(), 'ftp://shop.example/');
    expect(own.find('.warning').text()).toContain("the redirect URI can't be registered");
    expect(own.find('[name=redirect_uri]').val()).toBe('ftp://shop.example/');
  });
});

describe('another site', () => {
  it('can’t press the buttons of the demo application', async () => {
    for (const origin of ['http://evil.example', trial.baseUrl, 'null'])
      expect((await player({ origin }).shop.post('/ask', {})).status).toBe(403);
    expect((await new Agent(trial.open).post('/ask', {})).status).toBe(403);
  });

  it('can’t read the demo application under the other site’s host name [playground-1]', async () => {
    const asked = get(trial.open, { headers: { host: 'evil.example' } }); // which `fetch` doesn't send
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    expect([answer.statusCode, answer.headers.location]).toEqual([303, trial.open]);
    expect(await text(answer)).toBe('');
  });

  it('can’t inject an authorization response that the browser never requested', async () => {
    const answer = await player().shop.get('/callback?state=a&code=b');
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('That didn’t work');
    expect(answer.body).toContain(`href="${trial.baseUrl}/oauth/account"`);
  });

  it('can’t add a script or style, or unescaped text', async () => {
    const person = player();
    const page = await person.ask('"><script>alert(1)</script>');
    expect(page.body).not.toContain('<script>alert');
    const policy = page.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    expect(page.body).not.toMatch(/<style|\sstyle=|\son\w+=/);
  });
});
