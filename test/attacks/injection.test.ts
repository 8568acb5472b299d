import * as cheerio from 'cheerio';
import { describe, expect, it } from 'vitest';
import { Agent, type Answer } from '../support/agent.ts';
import { obtainToken, requestOf, tokenRequestOf } from '../support/flow.ts';
import { expectErrorPage } from '../support/pages.ts';
import { useServer } from '../support/server.ts';
import { contentsOf } from '../support/state.ts';
import { documentOf, postToken } from '../support/tokenRequests.ts';
import { linkTo, open, signedIn, signIn } from './browsers.ts';

// An attacker sends text that somebody else might run: a browser, a template engine, the database, or whoever reads
// the headers and the log.

// The worst case: what a proxy says of the caller and the address is believed.
const server = await useServer({ trustProxy: 1 });

const user = await server.createUser({ paymentPassword: null });
const shop = await server.createClient();
const browser = await signedIn(server, shop, user);

/** The elements of a page with the names of their attributes, in order: what markup in a text would change. */
function skeletonOf({ body }: Answer): string[] {
  const $ = cheerio.load(body);
  const elements = $('*').toArray();
  return elements.map(
    (element) => `${$(element).prop('tagName')} ${Object.keys($(element).attr() ?? {}).sort()}`,
  );
}

const HARMLESS = { name: 'Harmless', login: 'harmless', target: 'shop', instance: 'phone', state: 's' };
const MARKUP = `"'></bdi></title><script>alert(1)</script><img src=x onerror=alert(1)><!--`;
/** Markup without white space, which a target can't have. */
const TARGET = MARKUP.replaceAll(' ', '/');
const HOSTILE = { name: MARKUP, login: `${MARKUP}x`, target: TARGET, instance: MARKUP, state: MARKUP };

/** Every page of the flow, with these texts in it. */
async function pagesWith(texts: typeof HARMLESS): Promise<Answer[]> {
  const quoted = `"${texts.target.replaceAll(/["\\]/g, '\\$&')}"`;
  const client = await server.createClient({ name: texts.name });
  const someone = await server.createUser({ name: texts.name, login: texts.login });
  const request = {
    scope: `payment.to-pattern(${quoted})`,
    instance_name: texts.instance,
    state: texts.state,
  };
  const agent = new Agent(server.baseUrl);
  const signInPage = await open(agent, client, request);
  const wrong = await signIn(agent, signInPage, { ...someone, password: 'wrong' });
  await signIn(agent, wrong, someone);
  const payment = await open(agent, client, request);
  const refused = await agent.submit(payment, 'payment_password', {
    payment_password: '<svg onload=confirm(2)>',
  });
  await obtainToken(agent, client, someone, request);
  const confirmed = { payment_password: someone.paymentPassword ?? '' };
  await agent.submit(await open(agent, client, request), 'payment_password', confirmed);
  return [
    signInPage,
    wrong,
    payment,
    refused,
    await open(agent, client, request),
    await agent.get('/account'),
  ];
}

describe('markup', () => {
  it('is text on every page: names, logins, targets, instance names and states add no element and no attribute', async () => {
    const [harmless, hostile] = [await pagesWith(HARMLESS), await pagesWith(HOSTILE)];
    const names = ['sign-in', 'sign-in', 'payment-password', 'payment-password', 'consent', 'account'];
    expect(hostile.map(({ page }) => page)).toEqual(names);
    for (const [index, page] of hostile.entries()) {
      const twin = harmless[index];
      if (twin) expect(skeletonOf(page)).toEqual(skeletonOf(twin));
      expect(page.text).toContain(MARKUP);
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('is on no error page: whichever parameter has it, the page says only what we say', async () => {
    const parameters = [
      'client_id',
      'redirect_uri',
      'response_type',
      'scope',
      'code_challenge',
      'error_hint',
      'error',
    ];
    for (const parameter of parameters) {
      const page = await browser.get(linkTo(requestOf(shop, { response_type: 'x', [parameter]: MARKUP })));
      const twin = await browser.get(linkTo(requestOf(shop, { response_type: 'x', [parameter]: 'x' })));
      expect(skeletonOf(page)).toEqual(skeletonOf(twin));
      expect(page.text).not.toContain('alert');
    }
    for (const path of [
      `/${encodeURIComponent(MARKUP)}`,
      `/error?error_description=${encodeURIComponent(MARKUP)}`,
    ]) {
      const page = await browser.get(path);
      expect([page.status, page.text.includes('alert')]).toEqual([404, false]);
    }
  });

  it('is in no JSON: an answer to a program is JSON by its type, and repeats nothing of what came', async () => {
    const program = new Agent(server.baseUrl);
    const answers = [
      await postToken(server, { ...tokenRequestOf(shop, MARKUP), [MARKUP]: MARKUP }),
      await postToken(server, { ...tokenRequestOf(shop, 'x'), grant_type: MARKUP }),
      await postToken(server, `{"${MARKUP}":1}`, { 'content-type': 'application/json' }),
      await program.post('/oauth/revoke', { token: MARKUP, client_id: MARKUP }),
      await program.post(
        '/oauth/introspect',
        { token: MARKUP },
        { authorization: `Basic ${btoa('<b>:<b>')}` },
      ),
      await program.post('/api/revoke', {}, { authorization: `Basic ${encodeURIComponent(MARKUP)}` }),
    ];
    for (const answer of answers) {
      expect(answer.headers.get('content-type')).toBe('application/json');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.body).not.toMatch(/alert|</);
    }
  });
});

describe('a template', () => {
  // 15 digits: longer than a reference, which is random and can hold any 10.
  const RESULT = String(7 ** 17);

  it('is text: nothing in a parameter or a name is evaluated', async () => {
    const signs = ['$', '#', '*', '{', '%', '@'].map((sign) => `${sign}{7**17}`);
    const expressions = ['<%= 7**17 %>', '<%~ 7**17 %>', '@(7**17)', ...signs];
    const name = expressions.join(' ');
    const client = await server.createClient({ name });
    const quoted = `"${name.replaceAll(' ', '')}"`;
    const someone = await server.createUser({ name, paymentPassword: null });
    const agent = await signedIn(server, client, someone);
    const fields = { scope: `payment.to-pattern(${quoted})`, instance_name: name, state: name };
    const stranger = new Agent(server.baseUrl);
    const signInPage = await open(stranger, client, fields);
    const wrong = await signIn(stranger, signInPage, { ...someone, login: name });
    const pages = [await open(agent, client, fields), signInPage, wrong];
    for (const parameter of ['response_type', 'scope', 'redirect_uri', 'client_id', 'error', 'error_hint'])
      for (const expression of expressions)
        pages.push(await open(agent, client, { response_type: 'x', [parameter]: expression }));
    for (const { body } of pages) expect(body).not.toContain(RESULT);
    expect(pages[0]?.text).toContain(name);
  });
});

describe('SQL and search patterns', () => {
  const TEXTS = [
    `' or '1'='1`,
    `'; drop table grants; --`,
    `%`,
    `_`,
    `*`,
    `*)(uid=*))(|(uid=*`,
    `\\' or 1=1 --`,
    `$1`,
    '1 or 1=1',
  ];

  it.each(TEXTS)('are text in every field of every endpoint: %s', async (text) => {
    const before = await contentsOf(server);
    expectErrorPage(await open(browser, shop, { client_id: text }), 'unauthorized_client');
    expectErrorPage(await open(browser, shop, { redirect_uri: text }), 'invalid_request');
    expectErrorPage(await open(browser, shop, { scope: text }), 'invalid_scope');
    for (const field of ['code', 'client_id', 'client_secret', 'redirect_uri', 'grant_type', 'code_verifier'])
      expect((await postToken(server, { ...tokenRequestOf(shop, 'x'), [field]: text })).status).toBe(400);
    const program = new Agent(server.baseUrl);
    const credentials = { client_id: shop.clientId, client_secret: shop.clientSecret ?? '' };
    expect((await program.post('/oauth/revoke', { token: text, ...credentials })).body).toBe('{}');
    const asResource = { authorization: await server.createResource() };
    expect(documentOf(await program.post('/oauth/introspect', { token: text }, asResource))).toEqual({
      active: false,
    });
    for (const path of ['/account/disconnect', '/account'])
      await browser.post(`${path}?disconnected=${encodeURIComponent(text)}`, {
        grant_id: text,
        form_token: text,
      });
    expect(await contentsOf(server)).toEqual(before);
  });

  it('are text in a login: no wildcard, filter or comment finds a user, not even with the right password', async () => {
    const { login, password } = await server.createUser({ paymentPassword: null });
    const logins = [
      '*',
      '%',
      `${login.slice(0, -1)}_`,
      `${login.slice(0, 4)}%`,
      `${login.slice(0, 4)}*`,
      `${login}' --`,
    ];
    for (const typed of [
      ...logins,
      `${login})(uid=*`,
      `' or login_key='${login}`,
      `${login}\\`,
      `(${login})`,
    ]) {
      const stranger = new Agent(server.baseUrl);
      const answer = await signIn(stranger, await open(stranger, shop), { ...user, login: typed, password });
      expect([typed, answer.status, answer.page]).toEqual([typed, 422, 'sign-in']);
      expect((await stranger.get('/account')).page).toBe('sign-in');
    }
  });
});
