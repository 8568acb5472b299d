import { createHash } from 'node:crypto';
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
/** Signed in, so that a request which is taken leads to the consent page at once. */

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

  it('2.1 is known by its client_id alone: the redirect_uri of another application is not taken', async () => {
    const other = await server.createClient({ redirectUri: 'https://other.example/back' });
    expectErrorPage(await ask(shop, { redirect_uri: other.redirectUri }), 'invalid_request');
    expectErrorPage(await ask(other, { redirect_uri: shop.redirectUri }), 'invalid_request');
  });
});

const REQUIRED: [field: string, error: string][] = [
  ['client_id', 'invalid_request'],
  ['response_type', 'invalid_request'],
  ['redirect_uri', 'invalid_request'],
  ['scope', 'invalid_scope'],
];

describe('contract 2.2: fields of the authorization request', () => {
  it.each(REQUIRED)('2.2 needs %s: without it, or empty, it is %s', async (field, error) => {
    const before = await contentsOf(server);
    expectErrorPage(await ask(shop, { [field]: undefined }), error);
    expectErrorPage(await ask(shop, { [field]: '' }), error);
    expect(await contentsOf(server)).toEqual(before);
  });

  it.each(['token', 'Code', 'CODE', 'code token', 'code ', 'id_token', 'none'])(
    '2.2 takes no response_type but code: %j',
    async (value) => {
      expectErrorPage(await ask(shop, { response_type: value }), 'invalid_request');
    },
  );

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
  [CALLBACK, CALLBACK, `${CALLBACK}?`],
  [CALLBACK, `${CALLBACK}?item=1`, `${CALLBACK}?item=1&`],
  [CALLBACK, `${CALLBACK}?item=1&size=%D0%A5L`, `${CALLBACK}?item=1&size=%D0%A5L&`],
  [CALLBACK, `${CALLBACK}?item`, `${CALLBACK}?item&`],
  [CALLBACK, `${CALLBACK}?`, `${CALLBACK}?`],
  [CALLBACK, `${CALLBACK}?item=1&`, `${CALLBACK}?item=1&`],
  [CALLBACK, `${CALLBACK}?to=http://a/?b='c'`, `${CALLBACK}?to=http://a/?b='c'&`],
  [`${CALLBACK}?shop=7`, `${CALLBACK}?shop=7`, `${CALLBACK}?shop=7&`],
  [`${CALLBACK}?shop=7`, `${CALLBACK}?shop=7&item=1`, `${CALLBACK}?shop=7&item=1&`],
  [`${CALLBACK}?`, `${CALLBACK}?`, `${CALLBACK}?`],
  ['http://127.0.0.1:9', 'http://127.0.0.1:9', 'http://127.0.0.1:9?'],
  [
    'HTTPS://Shop.Example:443/%7ea/../b',
    'HTTPS://Shop.Example:443/%7ea/../b',
    'HTTPS://Shop.Example:443/%7ea/../b?',
  ],
  ['com.example.shop:/done', 'com.example.shop:/done', 'com.example.shop:/done?'],
  ['com.example.shop:/done', 'com.example.shop:/done?a=b', 'com.example.shop:/done?a=b&'],
];

const REFUSED_URIS: [registered: string, sent: string][] = [
  [CALLBACK, 'http://127.0.0.1:9/callbac'],
  [CALLBACK, `${CALLBACK}/`],
  [CALLBACK, `${CALLBACK}s`],
  [CALLBACK, `${CALLBACK}/../callback`],
  [CALLBACK, 'http://127.0.0.1:9//callback'],
  [CALLBACK, 'http://127.0.0.1:9/Callback'],
  [CALLBACK, 'http://127.0.0.1:9/%63allback'],
  [CALLBACK, 'HTTP://127.0.0.1:9/callback'],
  [CALLBACK, 'https://127.0.0.1:9/callback'],
  [CALLBACK, 'http://127.0.0.1/callback'],
  [CALLBACK, 'http://127.0.0.1:10/callback'],
  [CALLBACK, 'http://localhost:9/callback'],
  [CALLBACK, 'http://me@127.0.0.1:9/callback'],
  [CALLBACK, 'http://evil.example/http://127.0.0.1:9/callback'],
  [CALLBACK, `${CALLBACK}@evil.example`],
  [CALLBACK, `${CALLBACK};item=1`],
  [CALLBACK, `${CALLBACK}&item=1`],
  [CALLBACK, `${CALLBACK}%3Fitem=1`],
  [CALLBACK, `${CALLBACK}#part`],
  [CALLBACK, `${CALLBACK}?item=1#part`],
  [CALLBACK, ` ${CALLBACK}`],
  [CALLBACK, `${CALLBACK} `],
  [CALLBACK, `${CALLBACK}?item=a b`],
  [CALLBACK, `${CALLBACK}?item=ü`],
  [CALLBACK, `${CALLBACK}?item=1\r\nx: y`],
  [CALLBACK, `${CALLBACK}?code=mine`],
  [CALLBACK, `${CALLBACK}?a=b&%63ode=mine`],
  [CALLBACK, `${CALLBACK}?error=none`],
  [CALLBACK, `${CALLBACK}?error_description=none`],
  [CALLBACK, `${CALLBACK}?state=mine`],
  [CALLBACK, `${CALLBACK}?iss=mine`],
  [CALLBACK, `${CALLBACK}?access_token=mine`],
  [CALLBACK, `${CALLBACK}?a=b&Scop%65=mine`],
  [`${CALLBACK}?shop=7`, CALLBACK],
  [`${CALLBACK}?shop=7`, `${CALLBACK}?shop=8`],
  [`${CALLBACK}?shop=7`, `${CALLBACK}?shop=71`],
  [`${CALLBACK}?shop=7`, `${CALLBACK}?item=1&shop=7`],
  [`${CALLBACK}?shop=7`, `${CALLBACK}?shop=7?item=1`],
  [`${CALLBACK}?shop=7`, `${CALLBACK}?shop=7&shop=8`],
  [`${CALLBACK}?a=1&b=2`, `${CALLBACK}?b=2&a=1`],
  ['https://shop.example/back', 'https://shop.example:443/back'],
  ['com.example.shop:/done', 'com.example.shop://done'],
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
  'incoming-transfers operation-details operation-history account-info',
  'payment-shop payment-p2p',
  'payment-p2p.limit(7,0.01) payment-shop',
  'payment.to-pattern("a") payment.to-pattern("b") payment.to-account("c")',
  'payment.to-account("1","account") payment.to-account("1","phone")',
  'payment.to-account("a+b%20&c=d")',
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

  it('2.2 reads a plus in the body as a space between two rights', async () => {
    const client = await server.createClient();
    const request = new URLSearchParams(change(requestOf(client), { scope: undefined }));
    const answer = await agent.post('/oauth/authorize', `${request}&scope=account-info+operation-details`);
    const page = await agent.get(answer.location ?? '');
    expect(page.text).toContain('See your account number');
    expect(page.text).toContain('See the details of each transaction');
  });

  it.each([
    'Account-info',
    'ACCOUNT-INFO',
    'Payment-p2p',
    'payment-shop.Limit(1,5)',
    'payment.To-account("1")',
  ])('2.2 tells upper from lower case in scope: %s is none', async (scope) => {
    expectErrorPage(await ask(shop, { scope }), 'invalid_scope');
  });

  it.each([
    'account-info,operation-history',
    'account-info\toperation-history',
    'account-info\noperation-history',
    'payment.to-pattern("1 account-info incoming-transfers 1").limit(1,1)',
    'payment.to-account("1\u00A0")',
  ])('2.2 takes no other separator than a space: %j', async (scope) => {
    expectErrorPage(await ask(shop, { scope }), 'invalid_scope');
  });
});

describe('contract 2.2: instance_name', () => {
  it.each(['phone', 'user@example.org', 'Иван Петров', 'a+b&c=d%20"e"', '0', `${'ü'.repeat(127)}x`])(
    '2.2 takes the instance_name %j as it is',
    async (instance_name) => {
      const client = await server.createClient();
      const token = expectToken(await exchange(server, client, await codeFor(client, { instance_name })));
      expect(await introspect(server, resource, token)).toMatchObject({ active: true, instance_name });
    },
  );

  it('2.2 leaves instance_name out where none was sent', async () => {
    const client = await server.createClient();
    const token = expectToken(await exchange(server, client, await codeFor(client, { instance_name: '' })));
    expect(await introspect(server, resource, token)).not.toHaveProperty('instance_name');
  });

  it.each([
    ...['ü'.repeat(128), 'x'.repeat(256), 'a\nb', 'a\tb', 'a\u202Eb', 'a\u0000b'],
    ...[' ', ' a', 'a ', 'a\u00A0', '\u3164', '\u2800', '\u200D', 'a\uFE0F', 'a  b'],
  ])(
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

  it('2.3 holds error, no code, and at most a description when the user refused', async () => {
    const answer = await decide(agent, await reachConsent(agent, requestOf(shop), user), 'reject');
    const names = [...new URL(answer.location ?? '').searchParams.keys()];
    expect(names).toContain('error');
    expect(['error', 'error_description']).toEqual(expect.arrayContaining(names));
  });

  it('2.3 holds another code for each authorization', async () => {
    const codes = [await codeFor(shop), await codeFor(shop), await codeFor(unverified)];
    expect(new Set(codes).size).toBe(3);
  });
});

const TOKEN_FIELDS = ['code', 'client_id', 'grant_type', 'redirect_uri'];

describe('contract 2.4: fields of the token request', () => {
  it.each(TOKEN_FIELDS)('2.4 needs %s, and takes an empty one as left out', async (field) => {
    const code = await codeFor(shop);
    expectTokenError(await exchange(server, shop, code, { [field]: undefined }), 'invalid_request');
    expectTokenError(await exchange(server, shop, code, { [field]: '' }), 'invalid_request');
    expectToken(await exchange(server, shop, code));
  });

  it.each(['authorization-code', 'Authorization_code', 'refresh_token', 'client_credentials', 'password'])(
    '2.4 takes no grant_type but authorization_code: %s',
    async (grant_type) => {
      const code = await codeFor(shop);
      expectTokenError(
        await exchange(server, shop, code, { grant_type, username: user.login, password: user.password }),
        'invalid_request',
      );
      expectToken(await exchange(server, shop, code));
    },
  );

  it.each([
    [CALLBACK, `${CALLBACK}?item=1`],
    [CALLBACK, `${CALLBACK}/`],
    [CALLBACK, `${CALLBACK}?`],
    [CALLBACK, 'HTTP://127.0.0.1:9/callback'],
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

  it('2.4 needs client_secret of an application with authenticity verification only', async () => {
    expectTokenError(
      await exchange(server, shop, await codeFor(shop), { client_secret: undefined }),
      'unauthorized_client',
    );
    expectToken(await exchange(server, unverified, await codeFor(unverified)));
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

/** The example of RFC 7636, appendix B. */
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const S256 = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };

describe('contract 2.4: a code bound to a verifier (RFC 7636)', () => {
  it.each(['verified', 'unverified'])(
    '2.4 takes the code_verifier of the code_challenge (%s)',
    async (kind) => {
      const client = kind === 'verified' ? shop : unverified;
      const code = await codeFor(client, S256);
      expectToken(await exchange(server, client, code, { code_verifier: VERIFIER }));
    },
  );

  it.each([
    ['another verifier', S256, `${VERIFIER.slice(0, -1)}X`],
    ['the challenge itself', S256, CHALLENGE],
    ['no verifier', S256, undefined],
    ['an empty verifier', S256, ''],
    ['a verifier for a code without challenge', {}, VERIFIER],
  ])('2.4 gives invalid_grant for %s and keeps the code usable', async (_what, fields, code_verifier) => {
    const code = await codeFor(shop, fields);
    expectTokenError(await exchange(server, shop, code, { code_verifier }), 'invalid_grant');
    const right = fields === S256 ? { code_verifier: VERIFIER } : {};
    expectToken(await exchange(server, shop, code, right));
  });

  it.each(['short', VERIFIER.slice(0, 42), 'x'.repeat(129), `${VERIFIER} `, `${VERIFIER}=`])(
    '2.4 gives invalid_request for a code_verifier that can’t be one: %j',
    async (code_verifier) => {
      const code = await codeFor(shop, S256);
      expectTokenError(await exchange(server, shop, code, { code_verifier }), 'invalid_request');
      expectToken(await exchange(server, shop, code, { code_verifier: VERIFIER }));
    },
  );

  it.each([
    { code_challenge: CHALLENGE },
    { code_challenge: VERIFIER, code_challenge_method: 'plain' },
    { code_challenge: CHALLENGE, code_challenge_method: 's256' },
    { code_challenge_method: 'S256' },
    { code_challenge: CHALLENGE.slice(1), code_challenge_method: 'S256' },
    { code_challenge: `${CHALLENGE}=`, code_challenge_method: 'S256' },
  ])('2.2 takes a code_challenge by S256 only: not %j', async (fields) => {
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

  it.each([
    ['invalid_request', { grant_type: 'x' }],
    ['unauthorized_client', { client_id: 'x' }],
    ['invalid_grant', { code: 'x' }],
  ])('2.5 holds error and no access_token on failure: %s', async (error, changes) => {
    const document = documentOf(await exchange(server, shop, 'x', changes));
    expect(document).toEqual({ error, error_description: expect.stringMatching(/^[\x20-\x7e]+$/) });
  });

  it('2.5 gives a token that is neither the code nor the token of anyone else', async () => {
    const codes = [await codeFor(shop), await codeFor(unverified)] as const;
    const tokens = [
      expectToken(await exchange(server, shop, codes[0])),
      expectToken(await exchange(server, unverified, codes[1])),
    ];
    expect(new Set([...codes, ...tokens]).size).toBe(4);
  });

  it('2.5 never takes a code as an access token, nor a token as a code', async () => {
    const client = await server.createClient();
    const code = await codeFor(client);
    expect(await introspect(server, resource, code)).toEqual({ active: false });
    const token = expectToken(await exchange(server, client, code));
    expectTokenError(await exchange(server, client, token), 'invalid_grant');
    expect(await introspect(server, resource, token)).toMatchObject({ active: true });
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

  it('2.4 takes an empty Basic password as no secret', async () => {
    expectToken(await exchangeBasic(unverified, without, basic(unverified.clientId, '')));
    expectTokenError(await exchangeBasic(shop, without, basic(shop.clientId, '')), 'unauthorized_client');
    expectTokenError(
      await exchangeBasic(shop, without, basic(shop.clientId, 'wrong')),
      'unauthorized_client',
    );
    expectTokenError(await exchangeBasic(shop, without, basic('wrong', 'wrong')), 'unauthorized_client');
  });

  it('2.4 gives invalid_request for two secrets, two applications or an unreadable header', async () => {
    const secret = shop.clientSecret ?? '';
    const both = basic(shop.clientId, secret);
    expectTokenError(await exchangeBasic(shop, { client_secret: secret }, both), 'invalid_request');
    expectTokenError(await exchangeBasic(shop, { client_id: unverified.clientId }, both), 'invalid_request');
    for (const authorization of ['Basic', 'Basic !', `Basic ${btoa('no colon')}`, `Basic ${btoa('%ZZ:x')}`]) {
      const answer = await exchangeBasic(shop, without, { authorization });
      expectTokenError(answer, 'invalid_request');
    }
  });
});
