import { describe, expect, it } from 'vitest';
import { press } from '../support/account.ts';
import { Agent, type Answer } from '../support/agent.ts';
import { obtainCode, reachConsent, requestOf } from '../support/flow.ts';
import { expectErrorPage } from '../support/pages.ts';
import { type TestClient, useServer } from '../support/server.ts';
import { contentsOf, expireCode, setClientStatus, setUserStatus } from '../support/state.ts';
import {
  type Changes,
  change,
  documentOf,
  exchange,
  expectToken,
  expectTokenError,
  type Fields,
  postToken,
} from '../support/tokenRequests.ts';

const server = await useServer();

const user = await server.createUser({ paymentPassword: null });
const agent = new Agent(server.baseUrl);
const shop = await server.createClient();
const reader = await server.createClient({ allowedRights: ['account-info', 'operation-history'] });
const blocked = await server.createClient();
await setClientStatus(server, blocked, 'blocked');
await reachConsent(agent, requestOf(shop), user);

function codeFor(client: TestClient, fields: Fields = {}): Promise<string> {
  return obtainCode(agent, requestOf(client, fields), user);
}

/** Expects the page of an error by POST and by GET, signed in or not, and that nothing was written. */
async function expectRefused(fields: Fields, error: string): Promise<void> {
  const before = await contentsOf(server);
  for (const browser of [agent, new Agent(server.baseUrl)]) {
    const answers: Answer[] = [
      await browser.post('/oauth/authorize', fields),
      await browser.get(`/oauth/authorize?${new URLSearchParams(fields)}`),
    ];
    for (const answer of answers) expectErrorPage(answer, error);
  }
  expect(await contentsOf(server)).toEqual(before);
}

const INVALID_REQUESTS: [what: string, changes: Changes][] = [
  ['without client_id', { client_id: undefined }],
  ['with an empty client_id', { client_id: '' }],
  ['without redirect_uri', { redirect_uri: undefined }],
  ['with an empty redirect_uri', { redirect_uri: '' }],
  ['with a redirect_uri that is not registered', { redirect_uri: 'https://evil.example/' }],
  ['with a redirect_uri that is none', { redirect_uri: 'callback' }],
  ['without response_type', { response_type: undefined }],
  ['with an empty response_type', { response_type: '' }],
  ['with another response_type', { response_type: 'token' }],
  ['with an instance_name that is too long', { instance_name: 'x'.repeat(256) }],
  ['with a code_challenge that is none', { code_challenge: 'x', code_challenge_method: 'S256' }],
];

const INVALID_SCOPES: [rule: string, scope: string | undefined][] = [
  ['missing', undefined],
  ['empty', ''],
  ['an unknown right', 'account-info make-coffee'],
  ['a target with a line break', 'payment.to-pattern("a\nb")'],
  ['a limit of nothing', 'payment-shop.limit(1,0)'],
  ['the same right twice with two limits', 'payment-shop.limit(1,5) payment-shop.limit(2,5)'],
  ['two shops that look alike', 'payment.to-pattern("corner") payment.to-pattern("соrner").limit(1,5)'],
  ['a period and one payment', 'payment-shop.limit(1,5) payment-p2p.limit(,5)'],
];

describe('contract 7.1: errors of the authorization request', () => {
  it.each(INVALID_REQUESTS)('7.1 shows invalid_request for a request %s', async (_what, changes) => {
    await expectRefused(change(requestOf(shop), changes), 'invalid_request');
  });

  it.each(INVALID_SCOPES)('7.1 shows invalid_scope for %s: %j', async (_rule, scope) => {
    await expectRefused(change(requestOf(shop), { scope }), 'invalid_scope');
  });

  it('7.1 shows invalid_scope for a right that the application may not ask', async () => {
    await expectRefused(requestOf(reader, { scope: 'account-info payment-p2p' }), 'invalid_scope');
    await expectRefused(requestOf(reader, { scope: 'operation-details' }), 'invalid_scope');
    expect((await reachConsent(agent, requestOf(reader), user)).page).toBe('consent');
  });

  it('7.1 shows unauthorized_client for a wrong client_id', async () => {
    await expectRefused(requestOf(shop, { client_id: 'nobody' }), 'unauthorized_client');
    await expectRefused(requestOf(shop, { client_id: `${shop.clientId}0` }), 'unauthorized_client');
    await expectRefused(requestOf(shop, { client_id: "' or '1'='1" }), 'unauthorized_client');
  });

  it.each([
    [
      'client_id',
      { client_id: 'nobody', redirect_uri: 'x', response_type: 'x', scope: 'x' },
      'unauthorized_client',
    ],
    ['client_id', { client_id: '', redirect_uri: 'x', response_type: 'x', scope: 'x' }, 'invalid_request'],
    [
      'redirect_uri',
      { redirect_uri: 'https://evil.example/', response_type: 'x', scope: 'x' },
      'invalid_request',
    ],
    ['response_type', { response_type: 'x', scope: 'x' }, 'invalid_request'],
    ['scope', { scope: 'x', instance_name: 'x'.repeat(256) }, 'invalid_scope'],
  ])('7.1 names the first of several faults, here the one of %s', async (_name, changes, error) => {
    await expectRefused(requestOf(shop, changes), error);
  });

  it('7.1 judges a blocked application before what it sent', async () => {
    await expectRefused(requestOf(blocked, { redirect_uri: 'x', scope: 'x' }), 'unauthorized_client');
  });

  it.each([
    ['invalid_request', { response_type: 'token' }],
    ['invalid_scope', { scope: 'make-coffee' }],
    ['unauthorized_client', { client_id: 'nobody' }],
  ])('7.1 says on the page of %s what happened, and the log says which rule', async (error, changes) => {
    const answer = await agent.post('/oauth/authorize', requestOf(shop, changes));
    expectErrorPage(answer, error);
    expect(answer.text.length).toBeGreaterThan(100);
    const reference = /Reference ?([0-9a-f]{10})/.exec(answer.text)?.[1] ?? 'none';
    const line = server.logLines.find((text) => text.includes(reference));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ error, rule: expect.any(String) });
  });

  it('7.1 names in the log the character at which a redirect_uri starts to differ', async () => {
    const redirect_uri = `${shop.redirectUri.slice(0, 7)}X`;
    const answer = await agent.post('/oauth/authorize', requestOf(shop, { redirect_uri }));
    const reference = /Reference ?([0-9a-f]{10})/.exec(answer.text)?.[1] ?? 'none';
    const line = server.logLines.find((text) => text.includes(reference)) ?? '{}';
    expect(JSON.parse(line).rule).toContain('at character 8');
  });
});

const INVALID_TOKEN_REQUESTS: [what: string, changes: Changes][] = [
  ['without code', { code: undefined }],
  ['with an empty code', { code: '' }],
  ['without client_id', { client_id: undefined }],
  ['with an empty client_id', { client_id: '' }],
  ['without grant_type', { grant_type: undefined }],
  ['with an empty grant_type', { grant_type: '' }],
  ['with another grant_type', { grant_type: 'refresh_token' }],
  ['without redirect_uri', { redirect_uri: undefined }],
  ['with an empty redirect_uri', { redirect_uri: '' }],
  ['with another redirect_uri', { redirect_uri: 'https://evil.example/' }],
  ['with a code_verifier that is none', { code_verifier: 'short' }],
];

/** Well-formed like a code of ours, but never issued. */
const NEVER_ISSUED = `assent_ac_${'A'.repeat(64)}`;

describe('contract 7.2: invalid_request', () => {
  it.each(INVALID_TOKEN_REQUESTS)(
    '7.2 answers a request %s with it, and keeps the code usable',
    async (_what, changes) => {
      const code = await codeFor(shop);
      const before = await contentsOf(server);
      expectTokenError(await exchange(server, shop, code, changes), 'invalid_request');
      expect(await contentsOf(server)).toEqual(before);
      expectToken(await exchange(server, shop, code));
    },
  );
});

describe('contract 7.2: unauthorized_client', () => {
  it.each([
    ['a wrong client_id', { client_id: 'nobody' }],
    ['a wrong client_secret', { client_secret: 'wrong' }],
    ['no client_secret', { client_secret: undefined }],
    ['an empty client_secret', { client_secret: '' }],
  ])('7.2 answers %s with it, and keeps the code usable', async (_what, changes) => {
    const code = await codeFor(shop);
    const before = await contentsOf(server);
    expectTokenError(await exchange(server, shop, code, changes), 'unauthorized_client');
    expect(await contentsOf(server)).toEqual(before);
    expectToken(await exchange(server, shop, code));
  });

  it('7.2 answers an application that was blocked with it, as long as it is', async () => {
    const client = await server.createClient();
    const code = await codeFor(client);
    await setClientStatus(server, client, 'blocked');
    expectTokenError(await exchange(server, client, code), 'unauthorized_client');
    await setClientStatus(server, client, 'active');
    expectToken(await exchange(server, client, code));
  });

  it.each([NEVER_ISSUED, 'malformed', 'x'.repeat(3000)])(
    '7.2 judges the application before the code: %j',
    async (code) => {
      expectTokenError(await exchange(server, shop, code, { client_id: 'nobody' }), 'unauthorized_client');
      expectTokenError(await exchange(server, shop, code, { client_secret: 'wrong' }), 'unauthorized_client');
      expectTokenError(await exchange(server, blocked, code), 'unauthorized_client');
    },
  );

  it('7.2 judges the application before the redirect_uri, and the fields before the application', async () => {
    const code = await codeFor(shop);
    const wrong = { client_secret: 'wrong', redirect_uri: 'https://evil.example/' };
    expectTokenError(await exchange(server, shop, code, wrong), 'unauthorized_client');
    const both = { client_secret: 'wrong', grant_type: 'wrong' };
    expectTokenError(await exchange(server, shop, code, both), 'invalid_request');
  });
});

describe('contract 7.2: invalid_grant', () => {
  it.each([
    NEVER_ISSUED,
    ' ',
    'assent_ac_',
    `assent_ac_${'+'.repeat(64)}`,
    `assent_at_${'A'.repeat(64)}`,
    'код',
    'x'.repeat(5000),
  ])('7.2 answers a code that was never issued with it: %j', async (code) => {
    const before = await contentsOf(server);
    expectTokenError(await exchange(server, shop, code), 'invalid_grant');
    expectTokenError(
      await exchange(server, shop, code, { redirect_uri: 'https://evil.example/' }),
      'invalid_grant',
    );
    expect(await contentsOf(server)).toEqual(before);
  });

  it('7.2 answers a code with one character changed, cut or added with it, and keeps the code usable', async () => {
    const code = await codeFor(shop);
    const changed = `${code.slice(0, -1)}${code.endsWith('A') ? 'B' : 'A'}`;
    const swapped = code.replace(/[a-z](?=[^a-z]*$)/, (letter) => letter.toUpperCase());
    for (const other of [changed, swapped, code.slice(0, -1), `${code}A`, `${code}=`, ` ${code}`])
      expectTokenError(await exchange(server, shop, other), 'invalid_grant');
    expectToken(await exchange(server, shop, code));
  });

  it('7.2 answers a code of a user who was blocked since with it', async () => {
    const someone = await server.createUser({ paymentPassword: null });
    const code = await obtainCode(new Agent(server.baseUrl), requestOf(shop), someone);
    await setUserStatus(server, someone.login, 'blocked');
    expectTokenError(await exchange(server, shop, code), 'invalid_grant');
  });

  it('7.2 answers a code that the user disconnected before the exchange with it', async () => {
    const client = await server.createClient();
    const someone = await server.createUser({ paymentPassword: null });
    const browser = new Agent(server.baseUrl);
    const code = await obtainCode(browser, requestOf(client), someone);
    await press(browser, await browser.get('/account'), '/account/disconnect');
    expectTokenError(await exchange(server, client, code), 'invalid_grant');
  });

  it('7.2 tells why a code is refused by nothing', async () => {
    const client = await server.createClient();
    const used = await codeFor(client);
    await exchange(server, client, used);
    const usedAnswer = await exchange(server, client, used);
    const expired = await codeFor(client);
    await expireCode(server, client);
    const answers = [
      usedAnswer,
      await exchange(server, client, expired),
      await exchange(server, client, NEVER_ISSUED),
      await exchange(server, client, await codeFor(shop)),
    ];
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
  });
});

describe('contract 7.2: what every error has in common', () => {
  it.each([
    ['invalid_request', { grant_type: 'x' }],
    ['unauthorized_client', { client_secret: 'x' }],
    ['invalid_grant', {}],
  ])(
    '7.2 answers 400 with a JSON object, also when the secret came by HTTP Basic: %s',
    async (error, changes) => {
      expectTokenError(await exchange(server, shop, NEVER_ISSUED, changes), error);
      const basic = Buffer.from(
        `${shop.clientId}:${error === 'unauthorized_client' ? 'x' : shop.clientSecret}`,
      );
      const fields = { code: NEVER_ISSUED, grant_type: 'authorization_code', redirect_uri: shop.redirectUri };
      const sent = change(fields, error === 'invalid_request' ? changes : {});
      const headers = { authorization: `Basic ${basic.toString('base64')}` };
      expectTokenError(await postToken(server, sent, headers), error);
    },
  );

  it('7.2 repeats nothing of what was sent', async () => {
    for (const name of [
      'code',
      'client_id',
      'grant_type',
      'redirect_uri',
      'client_secret',
      'code_verifier',
    ]) {
      const answer = await exchange(server, shop, NEVER_ISSUED, { [name]: 'mark"}' });
      expect(answer.status).toBe(400);
      expect(answer.body).not.toContain('mark');
      expect(Object.keys(documentOf(answer))).toEqual(['error', 'error_description']);
    }
  });
});
