import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Agent, formWith } from '../support/agent.ts';
import { codeOf, decide, requestOf, tokenRequestOf } from '../support/flow.ts';
import { expectErrorPage } from '../support/pages.ts';
import { onDatabase, type ServerProcess, spawnServer } from '../support/process.ts';
import { useServer } from '../support/server.ts';
import { contentsOf } from '../support/state.ts';
import { exchange, expectToken, expectTokenError, postToken } from '../support/tokenRequests.ts';
import { formTo, open, signedIn } from './browsers.ts';

// An attacker sends what costs us more than it costs them, or what a careless reader falls over.

const server = await useServer();

const user = await server.createUser();
const resource = await server.createResource();
const shop = await server.createClient();
const browser = await signedIn(server, shop, user);

/** Whether everybody else is still served: the whole way to a token. */
async function expectServed(): Promise<void> {
  const client = await server.createClient();
  const code = codeOf(await decide(browser, await open(browser, client), 'allow'));
  expectToken(await exchange(server, client, code));
}

/** Texts that a pattern with two ways to read the same would try for longer than anybody waits. */
const LONG = 1500;
const BACKTRACKING: [what: string, text: string][] = [
  ['letters in an open quotation', `payment.to-pattern("${'a'.repeat(2 * LONG)}`],
  ['escapes in an open quotation', `payment.to-pattern("${'\\\\'.repeat(LONG)}`],
  ['quotes and commas', `payment.to-account(${'"a", '.repeat(LONG / 2)}`],
  ['spaces', `account-info${' '.repeat(2 * LONG)}x`],
  ['digits', `payment-shop.limit(${'9'.repeat(2 * LONG)},${'0'.repeat(LONG)}`],
  ['parentheses', `payment.to-pattern${'('.repeat(2 * LONG)}`],
  ['an address of many colons', `https://[${':'.repeat(2 * LONG)}]/`],
  ['an address of many labels', `https://${'a.'.repeat(LONG)}!`],
  ['an address of many user names', `https://${'a@'.repeat(LONG)}shop.example`],
  ['an address of many slashes', `https://shop.example${'/..'.repeat(LONG / 2)}`],
  ['an address of many parameters', `http://127.0.0.1:9/callback?${'a[=;&'.repeat(LONG / 3)}#`],
  ['an address of many escapes', `http://127.0.0.1:9/callback?${'%41'.repeat(LONG)}=%`],
];

describe('texts that are slow to read', () => {
  // A process of its own: one that reads for ever could not be told from here to stop.
  let reader: ServerProcess;

  beforeAll(async () => {
    reader = await spawnServer(onDatabase(server.database.url));
  });

  afterAll(async () => {
    await reader?.stop('SIGKILL');
  });

  it.each(BACKTRACKING)('are refused like any other wrong one: %s', async (_what, text) => {
    const agent = new Agent(reader.baseUrl);
    for (const field of ['scope', 'redirect_uri', 'client_id', 'response_type', 'code_challenge']) {
      const page = await agent.post('/oauth/authorize', requestOf(shop, { [field]: text }));
      expect([page.status, page.page]).toEqual([400, 'error']);
    }
    for (const field of ['code', 'redirect_uri', 'client_secret', 'code_verifier'])
      expect((await agent.post('/oauth/token', tokenRequestOf(shop, 'x', { [field]: text }))).status).toBe(
        400,
      );
    for (const scheme of ['Basic', 'Bearer', 'Basic   ', '']) {
      const headers = { authorization: `${scheme} ${text}` };
      for (const path of ['/oauth/token', '/oauth/introspect', '/api/revoke'])
        expect((await agent.post(path, { token: 'x' }, headers)).status).toBeLessThan(500);
    }
  });
});

describe('values far longer than any of ours', () => {
  it('are refused before they are looked into, wherever they stand, and change nothing', async () => {
    const page = await open(browser, shop);
    const payment = await open(browser, shop, { scope: 'payment-shop' });
    const account = await browser.get('/account');
    const long = 'A'.repeat(20_000);
    const huge = 'A'.repeat(200_000);
    const before = await contentsOf(server);
    const program = new Agent(server.baseUrl);
    const credentials = { client_id: shop.clientId, client_secret: shop.clientSecret ?? '' };
    for (const value of [long, huge]) {
      expectTokenError(await postToken(server, tokenRequestOf(shop, value)), 'invalid_request');
      expect((await program.post('/oauth/revoke', { token: value, ...credentials })).status).toBe(400);
      expect(
        (await program.post('/oauth/introspect', { token: value }, { authorization: resource })).status,
      ).toBe(400);
      const decision = formWith(page, 'decision');
      for (const fields of [{ decision_token: value }, { request: value }, { decision: value }]) {
        const answer = await browser.post(decision.action, { ...decision.fields, ...fields });
        expect([303, 400]).toContain(answer.status);
      }
      const { action, fields } = formWith(payment, 'payment_password');
      expect([303, 400, 422]).toContain(
        (await browser.post(action, { ...fields, payment_password: value })).status,
      );
      const signOut = formTo(account, '/sign-out');
      expect([303, 400]).toContain((await browser.post(signOut.action, { form_token: value })).status);
    }
    for (const headers of [
      { authorization: `Bearer ${long}` },
      { authorization: `Basic ${long}` },
      { cookie: `assent_session=${long}` },
    ])
      expect((await program.get('/account', headers)).status).toBe(200);
    expect((await program.get('/account', { cookie: `assent_session=${huge}` })).status).toBe(400);
    expect(await contentsOf(server)).toEqual(before);
    await expectServed();
  });
});

describe('headers that are none', () => {
  it.each([
    '',
    'Basic',
    'Bearer',
    'Basic ',
    'Bearer ',
    'Basic =',
    'Basic Og==',
    'Basic %',
    'Bearer a b',
    'Digest x',
    ',',
  ])('get the refusal of their endpoint, never a fault of ours: Authorization: %j', async (authorization) => {
    const program = new Agent(server.baseUrl);
    const expected = {
      '/oauth/token': 400,
      '/oauth/revoke': 400,
      '/oauth/introspect': 401,
      '/api/revoke': 400,
    };
    for (const [path, status] of Object.entries(expected)) {
      const answer = await program.post(path, {}, { authorization });
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
        path,
        status,
        'application/json',
      ]);
    }
  });
});

describe('names of JavaScript itself', () => {
  const NAMES = [
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'valueOf',
    '__proto__[status]',
  ];

  it.each(NAMES)('are ordinary parameters and ordinary values: %s', async (name) => {
    const before = await contentsOf(server);
    const request = new URLSearchParams(requestOf(shop));
    expect((await browser.get(`/oauth/authorize?${request}&${encodeURIComponent(name)}=active`)).page).toBe(
      'consent',
    );
    expectErrorPage(await open(browser, shop, { client_id: name }), 'unauthorized_client');
    expectErrorPage(await open(browser, shop, { scope: name }), 'invalid_scope');
    expectErrorPage(await open(browser, shop, { response_type: name }), 'invalid_request');
    for (const field of ['grant_type', 'client_id', 'code'])
      expect(
        (await postToken(server, { ...tokenRequestOf(shop, 'x'), [field]: name, [name]: 'x' })).status,
      ).toBe(400);
    const form = formWith(await open(browser, shop), 'decision');
    expect((await browser.post(form.action, { ...form.fields, decision: name })).status).toBe(303);
    expect((await browser.get(`/${encodeURIComponent(name)}`)).status).toBe(404);
    expect(await contentsOf(server)).toEqual(before);
    expect(({} as Record<string, unknown>).status).toBeUndefined();
  });
});
