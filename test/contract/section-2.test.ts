import { describe, expect, it } from 'vitest';
import { codeOf, requestOf } from '../support/flow.ts';
import { basic, documentOf, expectToken, expectTokenError } from '../support/http/tokenRequests.ts';
import { expectErrorPage } from '../support/pages.ts';
import { useServer } from '../support/server.ts';
import { flowAt, open } from './flowAt.ts';

// test/rules has the cases of each rule. These tests show that the front door applies it.

const server = await useServer();
const CALLBACK = 'http://127.0.0.1:9/callback';

const { user, agent, reachPage, allow, reject, codeFor, exchanged, introspected, writingNothing } =
  await flowAt(server);
const shop = await server.createClient();
const unverified = await server.createClient({ verified: false });
await reachPage(shop);

it('2.1 an application has a client_secret only if it is registered with verification [contract-3]', () => {
  expect(shop.clientId).toMatch(/^[0-9a-f]+$/);
  expect(shop.clientSecret).toMatch(/^[0-9a-f]+$/);
  expect(unverified.clientId).toMatch(/^[0-9a-f]+$/);
  expect(unverified.clientSecret).toBeNull();
});

describe('contract 2.2: fields of the authorization request', () => {
  it('2.2 requires no optional field, treats empty ones as omitted and ignores unknown ones', async () => {
    const empty = { instance_name: '', state: '', code_challenge: '', code_challenge_method: '' };
    const unknown = { lang: 'ru', prompt: 'none', request_uri: 'x', response_mode: 'fragment' };
    for (const fields of [{}, { ...empty, client_secret: '' }, unknown])
      expect((await open(agent, requestOf(shop, fields))).page).toBe('consent');
  });

  it.each([
    [CALLBACK, '?', ''],
    ['HTTPS://Shop.Example:443/%7ea/../b?shop=7', '&item=1&size=%D0%A5L', '&'],
    ['com.example.shop:/done', '?a=b', '&'],
  ])('2.2 keeps a redirect_uri: registered %s, appended %j', async (registered, appended, joint) => {
    const client = await server.createClient({ redirectUri: registered });
    const redirect_uri = registered + appended;
    const answer = await allow(client, { redirect_uri });
    expect(answer.location).toBe(`${redirect_uri}${joint}code=${codeOf(answer)}`);
    expectToken(await exchanged(client, codeOf(answer), { redirect_uri }));
  });

  it.each(['state=xyz', 'item=1&State=a%20b', 'state[]=', ';state'])(
    '2.2 accepts an appended state of an application without its own, and returns it once: %s [contract-4]',
    async (appended) => {
      const redirect_uri = `${CALLBACK}?${appended}`;
      for (const state of [{}, { state: '' }])
        expect((await reject(shop, { redirect_uri, ...state })).location).toBe(
          `${redirect_uri}&error=access_denied`,
        );
      const answer = await allow(shop, { redirect_uri });
      expect(answer.location).toBe(`${redirect_uri}&code=${codeOf(answer)}`);
      const changed = { redirect_uri: `${redirect_uri}x` };
      expectTokenError(await exchanged(shop, codeOf(answer), changed), 'invalid_request');
      expectToken(await exchanged(shop, codeOf(answer), { redirect_uri }));
      for (const twice of [{ redirect_uri, state: 'y' }, { redirect_uri: `${redirect_uri}&STATE=y` }]) {
        const page = await writingNothing(() => open(agent, requestOf(shop, twice)));
        expectErrorPage(page, 'invalid_request');
        expect(page.text).toContain('Parameterstate');
      }
    },
  );

  it('2.2 keeps a registered state, and refuses another one in the request', async () => {
    const redirectUri = 'https://shop.example/cb?state=fixed';
    const client = await server.createClient({ redirectUri }); // with --force
    const answer = await allow(client);
    expect(answer.location).toBe(`${redirectUri}&code=${codeOf(answer)}`);
    expectToken(await exchanged(client, codeOf(answer)));
    for (const fields of [{ state: 'x' }, { redirect_uri: `${redirectUri}&state=x` }])
      expectErrorPage(await open(agent, requestOf(client, fields)), 'invalid_request');
  });

  it.each([
    { redirect_uri: `${CALLBACK}?scope=payment-p2p` },
    { redirect_uri: `${CALLBACK}/../callback` },
    { redirect_uri: `${CALLBACK}?a=b&%63ode=mine` },
    { redirect_uri: `${CALLBACK}?item=1\r\nx: y` },
  ])('2.2 refuses a redirect_uri that differs from the registered one: %j [contract-5]', async (fields) => {
    expectErrorPage(await writingNothing(() => open(agent, requestOf(shop, fields))), 'invalid_request');
  });

  it.each([
    {
      scope:
        ' operation-history  payment.to-account("a+b%20&\\"c\\\\=d", "email").limit(30,1000.5) account-info ',
    },
    { scope: 'payment-shop.limit(, 300) money-source("card", "wallet") account-info' },
    { instance_name: `a+b&c=d%20"${'ü'.repeat(121)}"x` },
  ])(
    '2.2 accepts a list separated by spaces as scope, and any instance_name, and keeps both unchanged: %j [contract-6]',
    async (fields) => {
      const token = expectToken(await exchanged(shop, await codeFor(shop, fields)));
      expect(await introspected(token)).toMatchObject({ active: true, ...fields });
    },
  );

  it.each(['account-info,operation-history', 'Account-Info'])(
    '2.2 refuses other separators and a different letter case in scope: %j [contract-7]',
    async (scope) => {
      expectErrorPage(await open(agent, requestOf(shop, { scope })), 'invalid_scope');
    },
  );
});

it('2.3 the redirect contains only code after Allow, and only error after Reject [contract-8]', async () => {
  const { location } = await allow(shop);
  expect(location).toMatch(/^http:\/\/127\.0\.0\.1:9\/callback\?code=[A-Za-z0-9._~-]{20,}$/);
  expect((await reject(shop)).location).toBe(`${CALLBACK}?error=access_denied`);
});

describe('contract 2.4: fields of the token request', () => {
  it('2.4 and 5.4 require the redirect_uri of the authorization request, byte for byte [contract-9]', async () => {
    const redirect_uri = `${CALLBACK}?item=%41`;
    const code = await codeFor(shop, { redirect_uri });
    for (const other of [CALLBACK, `${CALLBACK}?item=A`, `${CALLBACK}?item=%41&`])
      expectTokenError(await exchanged(shop, code, { redirect_uri: other }), 'invalid_request');
    expectToken(await exchanged(shop, code, { redirect_uri }));
  });

  it('2.4 treats empty optional fields as omitted and ignores unknown ones, which change no right or user [contract-10]', async () => {
    const empty = { client_secret: '', code_verifier: '', state: '' };
    const { userId: sub, login: username } = await server.createUser();
    const wishes = { scope: 'payment-p2p', instance_name: 'x', sub, username, expires_in: '999999999' };
    const code = await codeFor(unverified, { scope: 'account-info' });
    const token = expectToken(await exchanged(unverified, code, { ...empty, ...wishes }));
    const told = await introspected(token);
    expect(told).toMatchObject({ scope: 'account-info', sub: user.userId, payment_limits: [] });
    expect(told).not.toHaveProperty('instance_name');
    expect((Number(told.exp) - Number(told.iat)) / (365.25 * 24 * 3600)).toBeCloseTo(3, 2);
  });

  it('2.4 accepts client_id and client_secret from HTTP Basic too, percent-decoded [contract-11]', async () => {
    const { clientId, clientSecret, redirectUri: redirect_uri } = shop;
    const encoded = (text: string | null) => `%${text?.charCodeAt(0).toString(16)}${text?.slice(1)}`;
    for (const fields of [{}, { client_id: clientId }]) {
      const code = await codeFor(shop);
      const form = { ...fields, code, grant_type: 'authorization_code', redirect_uri };
      const headers = basic(encoded(clientId), encoded(clientSecret));
      expectToken(await agent.post('/oauth/token', form, headers));
    }
  });
});

it('2.5 the token response contains access_token and no error on success [contract-12]', async () => {
  const document = documentOf(await exchanged(shop, await codeFor(shop)));
  expect(document).toEqual({
    access_token: expect.stringMatching(/^[A-Za-z0-9._~-]{20,}$/),
    token_type: 'bearer',
    expires_in: expect.any(Number),
    grant_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  expect(Number(document.expires_in) / (365.25 * 24 * 3600)).toBeCloseTo(3, 2);
});
