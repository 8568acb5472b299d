import { describe, expect, it } from 'vitest';
import { follow } from '../support/account.ts';
import { codeOf, decide, linkTo, reachConsent, requestOf, tokenRequestOf } from '../support/flow.ts';
import { Agent, type Answer, formWith } from '../support/http/agent.ts';
import {
  type Changes,
  change,
  documentOf,
  expectToken,
  expectTokenError,
  type Fields,
  postToken,
} from '../support/http/tokenRequests.ts';
import { expectErrorPage } from '../support/pages.ts';
import { useServer } from '../support/server.ts';
import { flowAt, open } from './flowAt.ts';

const server = await useServer();
const FORM = 'application/x-www-form-urlencoded';
const REQUEST = expect.stringMatching(`^${server.baseUrl}/oauth/authorize\\?client_id=`);

const { user, agent, reachPage, allow, reject, codeFor, exchanged, live, writingNothing } =
  await flowAt(server);
const [shop, other] = [await server.createClient(), await server.createClient()];
await reachPage(shop);

describe('contract 4.1: ways to send the authorization request', () => {
  it('4.1 redirects a form, or a POST with parameters in its URL and no body, to Assent’s own pages with 303', async () => {
    const post = (headers: Fields) => agent.send(linkTo(requestOf(shop)), { method: 'POST', headers });
    for (const answer of [
      await agent.post('/oauth/authorize?utm_source=mail', requestOf(shop)),
      await post({ 'content-type': FORM }),
      await post({}),
      await post({ 'content-type': 'application/json' }),
    ]) {
      expect([answer.status, answer.location]).toEqual([303, REQUEST]);
      expect((await agent.get(answer.location ?? '')).page).toBe('consent');
    }
  });

  it('4.1 refuses parameters in both the body and the URL', async () => {
    const fields = requestOf(shop);
    for (const inUrl of [fields, { state: 'x' }])
      expectErrorPage(await agent.post(linkTo(inUrl), fields), 'invalid_request');
  });

  it('4.1 redirects to a URL that works in any other browser, and after a reload', async () => {
    const request = requestOf(shop, { state: 's 1' });
    const { location } = await new Agent(server.baseUrl).post('/oauth/authorize', request);
    const browser = new Agent(server.baseUrl);
    const url = location ?? '';
    const { login, password } = user;
    const page = await browser.get(url);
    expect(page.page).toBe('sign-in');
    const shown = ({ body }: Answer) => body.replace(/name="form_token" value="[\w-]+"/, '');
    expect(shown(await browser.get(url))).toBe(shown(page));
    const signedIn = await browser.submit(page, 'login', { login, password });
    expect(signedIn.location).toBe(url);
    await browser.get(url);
    const end = await decide(browser, await browser.get(url), 'allow');
    expect(end.location).toBe(`${shop.redirectUri}?state=s%201&code=${codeOf(end)}`);
  });

  it('4.1 keeps only known parameters in the URL of the redirect, in a fixed order, with spaces as %20', async () => {
    const known = requestOf(shop, { instance_name: 'Иван +1', state: 'a b+c' });
    const reversed = Object.fromEntries(Object.entries(known).reverse());
    const sent = { ...reversed, code_challenge: '', client_secret: shop.clientSecret ?? '', password: 'p' };
    const query = Object.entries(known).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const { location } = await agent.post('/oauth/authorize', sent);
    expect(location).toBe(`${server.baseUrl}/oauth/authorize?${query.join('&')}`);
  });

  it('4.1 writes nothing before the user decides [contract-18]', async () => {
    await writingNothing(async () => {
      await agent.get(linkTo(requestOf(shop)));
      await open(new Agent(server.baseUrl), requestOf(shop));
    });
  });
});

describe('contract 4: encoding of the bodies', () => {
  it.each([FORM, `${FORM}; charset=UTF-8`, `${FORM};charset=utf-8`, 'Application/X-WWW-Form-URLEncoded'])(
    '4 both endpoints accept a form with the Content-Type %s',
    async (type) => {
      const headers = { 'content-type': type };
      const { location } = await agent.post('/oauth/authorize', requestOf(shop), headers);
      const code = codeOf(await decide(agent, await agent.get(location ?? ''), 'allow'));
      expectToken(await postToken(server, tokenRequestOf(shop, code), headers));
    },
  );

  it.each(['Иван 💳', '%d0%98%D0%B2ан+%F0%9F%92%B3'])(
    '4 reads UTF-8, percent-encoded or not: %s [contract-19]',
    async (name) => {
      const body = `${new URLSearchParams(requestOf(shop))}&instance_name=${name}`;
      const { location } = await agent.post('/oauth/authorize', body);
      expect((await agent.get(location ?? '')).text).toContain('Иван 💳');
    },
  );
});

const STATES = [
  ' ',
  'x'.repeat(5000),
  '+%2B%"quoted" \'too\' <b>&amp;</b>&code=mine&error=none#part;?',
  'Привет, 世界 💳 e\u0301 \u00e9\r\nSet-Cookie: a=b',
];

describe('contract 4.1: the redirect to the application', () => {
  it.each(STATES)('4.1 returns state unchanged, before code or error: %j [contract-20]', async (state) => {
    const echo = `${shop.redirectUri}?state=${encodeURIComponent(state)}`;
    expect((await reject(shop, { state })).location).toBe(`${echo}&error=access_denied`);
    const allowed = await allow(shop, { state });
    expect(allowed.location).toBe(`${echo}&code=${codeOf(allowed)}`);
  });

  it('4.1 answers the decision with 302, without caching or Referer [contract-21]', async () => {
    for (const answer of [await reject(shop), await allow(shop)]) {
      expect(answer.status).toBe(302);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    }
  });
});

describe('contract 4.1: invalid decisions', () => {
  /** Sends the form of a consent page, changed, and expects it to be shown afresh. */
  async function expectStale(browser: Agent, fields: Fields): Promise<void> {
    for (const decision of ['allow', 'reject']) {
      const answer = await writingNothing(() => browser.post('/oauth/consent', { ...fields, decision }));
      expect([answer.status, answer.location]).toEqual([303, REQUEST]);
    }
  }

  it.each<[what: string, changes: (request: string) => Changes]>([
    ['without its decision_token', () => ({ decision_token: undefined })],
    ['for a changed scope', (request) => ({ request: request.replace(/scope=[^&]*/, 'scope=payment-p2p') })],
    ['for an added instance_name', (request) => ({ request: `${request}&instance_name=x` })],
    ['for a changed redirect_uri', (request) => ({ request: request.replace('callback', 'callback%3Fa=b') })],
    ['for a changed client_id', (request) => ({ request: request.replace(shop.clientId, other.clientId) })],
  ])('4.1 accepts no decision %s [contract-22]', async (_what, changes) => {
    const { fields } = formWith(await reachPage(shop), 'decision');
    await expectStale(agent, change(fields, changes(fields.request ?? '')));
  });

  it('4.1 accepts no decision from another session, another user or without a session [contract-23]', async () => {
    const page = await reachPage(shop);
    const [sameUser, otherUser] = [new Agent(server.baseUrl), new Agent(server.baseUrl)];
    await reachConsent(sameUser, requestOf(shop), user);
    await reachConsent(otherUser, requestOf(shop), await server.createUser());
    for (const browser of [sameUser, otherUser, new Agent(server.baseUrl)])
      await expectStale(browser, formWith(page, 'decision').fields);
    expect((await decide(agent, page, 'allow')).status).toBe(302);
  });
});

describe('contract 4.1: repeated decisions', () => {
  async function expectAllowedAlready(answer: Answer): Promise<Answer> {
    const page = await follow(agent, answer);
    expect([page.status, page.page]).toEqual([200, 'consent']);
    expect(page.text).toContain('You already allowed this');
    return page;
  }

  it('4.1 says “You already allowed this” when Allow is pressed again with the code exchanged', async () => {
    const page = await reachPage(shop);
    const token = expectToken(await exchanged(shop, codeOf(await decide(agent, page, 'allow'))));
    await expectAllowedAlready(await writingNothing(() => decide(agent, page, 'allow')));
    expect(await live(token)).toBe(true);
  });

  it('4.1 says that access was allowed when Reject is pressed after Allow, and revokes nothing', async () => {
    const page = await reachPage(shop);
    const code = codeOf(await decide(agent, page, 'allow'));
    const answer = await writingNothing(() => decide(agent, page, 'reject'));
    const said = await expectAllowedAlready(answer);
    expect(said.text).toMatch(/so “Reject” on that page .* disconnect/);
    expect(said.body).toContain('href="/oauth/account"');
    expectToken(await exchanged(shop, code));
  });

  it('4.1 issues a code for each approval, and exchanges only the latest code', async () => {
    const codes = [await codeFor(shop), await codeFor(shop), await codeFor(shop)];
    const answers = await Promise.all(codes.map((code) => exchanged(shop, code)));
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 200]);
  });
});

describe('contract 4.2: the token response', () => {
  it.each<[what: string, status: number, answer: () => Promise<Answer>]>([
    ['success', 200, async () => exchanged(shop, await codeFor(shop))],
    ['invalid_grant', 400, () => exchanged(shop, 'none')],
    ['a JSON body', 400, () => postToken(server, '{}', { 'content-type': 'application/json' })],
    ['a body that is too long', 400, () => postToken(server, { code: 'x'.repeat(20_000) })],
  ])('4.2 has the headers of the contract: %s, status %i [contract-24]', async (_what, status, answer) => {
    const { status: seen, headers, body } = await answer();
    expect(seen).toBe(status);
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('content-length')).toBe(String(Buffer.byteLength(body)));
    expect(headers.get('cache-control')).toBe('no-store');
    for (const name of ['transfer-encoding', 'www-authenticate', 'location', 'set-cookie'])
      expect(headers.get(name)).toBeNull();
    const document = JSON.parse(body) as Record<string, unknown>;
    expect(['access_token', 'error'].filter((name) => name in document)).toHaveLength(1);
    expect(Object.values(document)).not.toContain(null);
  });

  it('4.2 refuses parameters in the URL, says that they belong in the body, and keeps the code usable', async () => {
    const fields = tokenRequestOf(shop, await codeFor(shop));
    const posted = { method: 'POST', headers: { 'content-type': FORM } };
    for (const answer of [
      await agent.send(`/oauth/token?${new URLSearchParams(fields)}`, posted),
      ...(await Promise.all(
        [...Object.keys(fields), 'code_verifier'].map((name) => agent.post(`/oauth/token?${name}=`, fields)),
      )),
    ]) {
      expectTokenError(answer, 'invalid_request');
      expect(documentOf(answer).error_description).toContain('in the body');
    }
    expectToken(await agent.post('/oauth/token?utm_source=mail', fields));
  });
});
