import { describe, expect, it } from 'vitest';
import { Agent, type Answer } from '../support/agent.ts';
import { codeOf, decide, introspect, obtainCode, reachConsent, requestOf } from '../support/flow.ts';
import { expectErrorPage } from '../support/pages.ts';
import { type TestClient, useServer } from '../support/server.ts';
import { contentsOf } from '../support/state.ts';
import {
  basic,
  type Changes,
  change,
  documentOf,
  exchange,
  expectToken,
  expectTokenError,
  type Fields,
} from '../support/tokenRequests.ts';

const server = await useServer();
const CALLBACK = 'http://127.0.0.1:9/callback';

const user = await server.createUser({ paymentPassword: null });
const agent = new Agent(server.baseUrl);
const resource = await server.createResource();
const shop = await server.createClient();
const unverified = await server.createClient({ verified: false });
await reachConsent(agent, requestOf(shop), user);

/** Sends a request that is right but for `changes`, and follows the 303 when it is taken. */
async function ask(client: TestClient, changes: Changes): Promise<Answer> {
  const answer = await agent.post('/oauth/authorize', change(requestOf(client), changes));
  return answer.status === 303 ? agent.get(answer.location ?? '') : answer;
}

function codeFor(client: TestClient, fields: Fields = {}): Promise<string> {
  return obtainCode(agent, requestOf(client, fields), user);
}

describe('contract 2.1: the registered application', () => {
  it('2.1 has a client_secret only when it is registered with authenticity verification', () => {
    expect(shop.clientId).toMatch(/^[0-9a-f]+$/);
    expect(shop.clientSecret).toMatch(/^[0-9a-f]+$/);
    expect(unverified.clientId).toMatch(/^[0-9a-f]+$/);
    expect(unverified.clientSecret).toBeNull();
  });
});

describe('contract 2.2: fields of the authorization request', () => {
  it.each([
    { instance_name: '', state: '', code_challenge: '', code_challenge_method: '', client_secret: '' },
    { instance_name: undefined },
    {
      theme: 'dark',
      lang: 'ru',
      login_hint: 'me',
      prompt: 'none',
      request_uri: 'x',
      response_mode: 'fragment',
    },
  ])(
    '2.2 needs nothing else, takes empty fields as left out and ignores unknown ones: %j',
    async (fields) => {
      expect((await ask(shop, fields)).page).toBe('consent');
    },
  );
});

const TAKEN_URIS: [registered: string, sent: string, before: string][] = [
  [CALLBACK, `${CALLBACK}?item=1&size=%D0%A5L`, `${CALLBACK}?item=1&size=%D0%A5L&`],
  [CALLBACK, `${CALLBACK}?`, `${CALLBACK}?`],
  [`${CALLBACK}?shop=7`, `${CALLBACK}?shop=7&item=1`, `${CALLBACK}?shop=7&item=1&`],
  [
    'HTTPS://Shop.Example:443/%7ea/../b',
    'HTTPS://Shop.Example:443/%7ea/../b',
    'HTTPS://Shop.Example:443/%7ea/../b?',
  ],
  ['com.example.shop:/done', 'com.example.shop:/done?a=b', 'com.example.shop:/done?a=b&'],
];

const REFUSED_URIS: [registered: string, sent: string][] = [
  [CALLBACK, 'http://127.0.0.1:9/callbac'],
  [CALLBACK, `${CALLBACK}/../callback`],
  [CALLBACK, `${CALLBACK}#part`],
  [CALLBACK, `${CALLBACK}?item=1\r\nx: y`],
  [CALLBACK, `${CALLBACK}?a=b&%63ode=mine`],
  [`${CALLBACK}?shop=7`, CALLBACK],
];

describe('contract 2.2: redirect_uri', () => {
  it.each(TAKEN_URIS)('2.2 takes, registered %s, the redirect_uri %s', async (registered, sent, before) => {
    const client = await server.createClient({ redirectUri: registered });
    const page = await reachConsent(agent, requestOf(client, { redirect_uri: sent }), user);
    const answer = await decide(agent, page, 'allow');
    const code = codeOf(answer);
    expect(answer.location).toBe(`${before}code=${code}`);
    expectToken(await exchange(server, client, code, { redirect_uri: sent }));
  });

  it.each(REFUSED_URIS)('2.2 refuses, registered %s, the redirect_uri %s', async (registered, sent) => {
    const client = await server.createClient({ redirectUri: registered });
    const before = await contentsOf(server);
    expectErrorPage(await ask(client, { redirect_uri: sent }), 'invalid_request');
    expect(await contentsOf(server)).toEqual(before);
  });
});

const TAKEN_SCOPES = [
  'operation-history account-info',
  ' account-info  operation-history ',
  'payment.to-pattern("a") payment.to-pattern("b") payment.to-account("c")',
  'payment.to-account("a+b%20&c=d")',
  'payment.to-account("a\\"b\\"\\\\c","email").limit(30,1000.5)',
  'payment-shop.limit(, 300) money-source("card", "wallet") account-info',
];

describe('contract 2.2: scope', () => {
  it.each(TAKEN_SCOPES)(
    '2.2 takes a list separated by spaces in any order and keeps it: %j',
    async (scope) => {
      const client = await server.createClient();
      const token = expectToken(await exchange(server, client, await codeFor(client, { scope })));
      expect(await introspect(server, resource, token)).toMatchObject({ scope });
    },
  );

  it.each([
    'account-info,operation-history',
    'payment.to-pattern("1 account-info incoming-transfers 1").limit(1,1)',
  ])('2.2 takes no other separator than a space: %j', async (scope) => {
    expectErrorPage(await ask(shop, { scope }), 'invalid_scope');
  });
});

describe('contract 2.2: instance_name', () => {
  it.each(['a+b&c=d%20"e"', `${'ü'.repeat(127)}x`])(
    '2.2 takes the instance_name %j as it is',
    async (instance_name) => {
      const client = await server.createClient();
      const token = expectToken(await exchange(server, client, await codeFor(client, { instance_name })));
      expect(await introspect(server, resource, token)).toMatchObject({ active: true, instance_name });
    },
  );

  it.each(['ü'.repeat(128), 'a\u0000b', ' '])(
    '2.2 takes no instance_name of more than 255 bytes or with characters that deceive: %j',
    async (instance_name) => {
      expectErrorPage(await ask(shop, { instance_name }), 'invalid_request');
    },
  );
});

describe('contract 2.3: the result of the authorization', () => {
  it('2.3 holds code and nothing else when the user confirmed', async () => {
    const answer = await decide(agent, await reachConsent(agent, requestOf(shop), user), 'allow');
    const parameters = new URL(answer.location ?? '').searchParams;
    expect([...parameters.keys()]).toEqual(['code']);
    expect(parameters.get('code')).toMatch(/^[A-Za-z0-9._~-]{20,}$/);
  });
});

describe('contract 2.4: fields of the token request', () => {
  it.each([
    [CALLBACK, `${CALLBACK}?item=1`],
    [`${CALLBACK}?item=1`, CALLBACK],
    [`${CALLBACK}?item=1`, `${CALLBACK}?item=2`],
    [`${CALLBACK}?item=%41`, `${CALLBACK}?item=A`],
  ])(
    '2.4 compares redirect_uri with the one of the request: after %s not %s',
    async (redirect_uri, other) => {
      const code = await codeFor(shop, { redirect_uri });
      expectTokenError(await exchange(server, shop, code, { redirect_uri: other }), 'invalid_request');
      expectToken(await exchange(server, shop, code, { redirect_uri }));
    },
  );

  it('2.4 compares redirect_uri with the one of the request even when another one is registered since', async () => {
    const client = await server.createClient();
    const code = await codeFor(client);
    await server.database.pool.query('update clients set redirect_uri = $2 where client_id = $1', [
      client.clientId,
      'https://elsewhere.example/',
    ]);
    expectTokenError(
      await exchange(server, client, code, { redirect_uri: 'https://elsewhere.example/' }),
      'invalid_request',
    );
    expectToken(await exchange(server, client, code));
  });

  it('2.4 takes empty optional fields as left out and ignores unknown ones', async () => {
    const extra = {
      client_secret: '',
      code_verifier: '',
      scope: 'payment-p2p',
      instance_name: 'x',
      state: '',
    };
    expectToken(await exchange(server, unverified, await codeFor(unverified), extra));
  });
});

describe('contract 2.2: a code bound to a verifier (RFC 7636)', () => {
  it.each(['', 'plain'])('2.2 takes a code_challenge by S256 only: not %j', async (code_challenge_method) => {
    const fields = { code_challenge: 'A'.repeat(43), code_challenge_method };
    expectErrorPage(await ask(shop, fields), 'invalid_request');
  });
});

describe('contract 2.5: the token response', () => {
  it('2.5 holds access_token and no error on success', async () => {
    const client = await server.createClient();
    const document = documentOf(await exchange(server, client, await codeFor(client)));
    expect(document).toEqual({
      access_token: expect.stringMatching(/^[A-Za-z0-9._~-]{20,}$/),
      token_type: 'bearer',
      expires_in: expect.any(Number),
    });
    const years = Number(document.expires_in) / (365.25 * 24 * 3600);
    expect(years).toBeCloseTo(3, 2);
  });
});

describe('contract 2.4: HTTP Basic in place of client_id and client_secret', () => {
  const without = { client_id: undefined, client_secret: undefined };

  async function exchangeBasic(client: TestClient, changes: Changes, headers: Fields): Promise<Answer> {
    const code = await codeFor(client);
    const fields = { code, grant_type: 'authorization_code', redirect_uri: client.redirectUri };
    return new Agent(server.baseUrl).post('/oauth/token', change(fields, changes), headers);
  }

  it('2.4 takes client_id and client_secret from HTTP Basic too, percent-decoded', async () => {
    const { clientId, clientSecret } = shop;
    expectToken(await exchangeBasic(shop, without, basic(clientId, clientSecret ?? '')));
    expectToken(await exchangeBasic(shop, { client_id: clientId }, basic(clientId, clientSecret ?? '')));
    const encoded = (text: string) => `%${text.charCodeAt(0).toString(16)}${text.slice(1)}`;
    expectToken(await exchangeBasic(shop, without, basic(encoded(clientId), encoded(clientSecret ?? ''))));
  });
});
