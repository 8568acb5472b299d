import { describe, expect, it } from 'vitest';
import { Agent, type Answer } from '../support/agent.ts';
import { decide, obtainCode, reachConsent, requestOf } from '../support/flow.ts';
import { expectErrorPage } from '../support/pages.ts';
import { type TestClient, useServer } from '../support/server.ts';
import { contentsOf, expireCode, isLive, setClientStatus, setUserStatus } from '../support/state.ts';
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
const resource = await server.createResource();
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
  ['nothing but spaces', '  '],
  ['an unknown right', 'account-info make-coffee'],
  ['a right without its target', 'payment'],
  ['a right without its target', 'payment.limit(1,5)'],
  ['a target of another kind', 'payment.to-phone("1")'],
  ['an empty target', 'payment.to-pattern("")'],
  ['two targets', 'payment.to-pattern("a","b")'],
  ['an unknown type of account', 'payment.to-account("1","iban")'],
  ['a type too many', 'payment.to-account("1","phone","email")'],
  ['a target without quotes', 'payment.to-pattern(a)'],
  ['quotes that do not end', 'payment.to-pattern("a)'],
  ['a target with a line break', 'payment.to-pattern("a\nb")'],
  ['a target that turns the direction of writing', 'payment.to-pattern("a\u202Eb")'],
  ['a target of more than 128 characters', `payment.to-pattern("${'x'.repeat(129)}")`],
  ['an unknown source', 'payment-shop money-source("credit")'],
  ['no source', 'payment-shop money-source()'],
  ['a source named twice', 'payment-shop money-source("card","cards")'],
  ['a limit on a right that spends nothing', 'account-info.limit(1,5)'],
  ['a limit on a source', 'payment-shop money-source("card").limit(1,5)'],
  ['a limit of no days', 'payment-shop.limit(0,5)'],
  ['a limit of a part of a day', 'payment-shop.limit(1.5,5)'],
  ['a limit of negative days', 'payment-shop.limit(-1,5)'],
  ['a limit of more than 9999 days', 'payment-shop.limit(10000,5)'],
  ['a limit of nothing', 'payment-shop.limit(1,0)'],
  ['a limit of nothing', 'payment-shop.limit(1,0.00)'],
  ['a negative limit', 'payment-shop.limit(1,-5)'],
  ['a limit with three decimals', 'payment-shop.limit(1,5.001)'],
  ['a limit with an exponent', 'payment-shop.limit(1,5e3)'],
  ['a limit with a decimal comma', 'payment-shop.limit(1,5,5)'],
  ['a limit of more than 12 digits', 'payment-shop.limit(1,1234567890123)'],
  ['a limit without a sum', 'payment-shop.limit(1,)'],
  ['a limit without a comma', 'payment-shop.limit(5)'],
  ['two limits', 'payment-shop.limit(1,5).limit(2,5)'],
  ['the same right twice', 'account-info account-info'],
  ['the same right twice with two limits', 'payment-shop.limit(1,5) payment-shop.limit(2,5)'],
  ['the same target twice', 'payment.to-account("1") payment.to-account("1","account")'],
  ['the same shop twice', 'payment.to-pattern("a") payment.to-pattern("a").limit(1,5)'],
  ['two shops that look alike', 'payment.to-pattern("corner") payment.to-pattern("соrner").limit(1,5)'],
  ['an email address in look-alike letters', 'payment.to-account("аnna@shop.example","email")'],
  ['anyone and one account', 'payment-p2p payment.to-account("1")'],
  ['any shop and one shop', 'payment-shop payment.to-pattern("a")'],
  ['a period and one payment', 'payment-shop.limit(1,5) payment-p2p.limit(,5)'],
  ['a default period and one payment', 'payment-shop payment-p2p.limit(,5)'],
  ['two single payments', 'payment.to-pattern("a").limit(,5) payment.to-pattern("b").limit(,5)'],
  ['one payment and history', 'payment-shop.limit(,5) operation-history'],
  ['one payment and incoming transfers', 'payment-shop.limit(,5) incoming-transfers'],
];

describe('contract 7.1: errors of the authorization request', () => {
  it.each(INVALID_REQUESTS)('7.1 shows invalid_request for a request %s', async (_what, changes) => {
    await expectRefused(change(requestOf(shop), changes), 'invalid_request');
  });

  it.each(INVALID_SCOPES)('7.1 shows invalid_scope for %s: %j', async (_rule, scope) => {
    await expectRefused(change(requestOf(shop), { scope }), 'invalid_scope');
  });

  it('7.1 shows invalid_scope for a scope that is not text in UTF-8', async () => {
    const encoded = `${new URLSearchParams(change(requestOf(shop), { scope: undefined }))}&scope=account-info%FF`;
    expectErrorPage(await agent.post('/oauth/authorize', encoded), 'invalid_scope');
    expectErrorPage(await agent.get(`/oauth/authorize?${encoded}`), 'invalid_scope');
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

  it('7.1 shows unauthorized_client for an application that was blocked', async () => {
    await expectRefused(requestOf(blocked), 'unauthorized_client');
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

  it('7.1 repeats on the page nothing of what was sent', async () => {
    const mark = '<img src=x onerror=alert(1)>';
    for (const name of ['client_id', 'redirect_uri', 'response_type', 'scope']) {
      const answer = await agent.post('/oauth/authorize', requestOf(shop, { [name]: mark, state: mark }));
      expect(answer.status).toBe(400);
      expect(answer.text).not.toContain('onerror');
      expect(answer.body).not.toContain('onerror');
    }
  });

  it('7.1 redirects with access_denied when the user rejected the request', async () => {
    const answer = await decide(agent, await reachConsent(agent, requestOf(shop), user), 'reject');
    expect([answer.status, answer.location]).toEqual([302, `${shop.redirectUri}?error=access_denied`]);
  });

  it('7.1 notes a refusal, and writes nothing else', async () => {
    const client = await server.createClient();
    const page = await reachConsent(agent, requestOf(client, { instance_name: 'phone' }), user);
    await decide(agent, page, 'reject');
    const { rows } = await server.database.pool.query(
      'select kind, user_id, client_id, instance_name from audit_events where client_id = $1 and grant_id is not null',
      [client.clientId],
    );
    expect(rows).toEqual([
      { kind: 'refused', user_id: user.userId, client_id: client.clientId, instance_name: 'phone' },
    ]);
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

  it('7.2 answers an empty body with it', async () => {
    expectTokenError(await postToken(server, ''), 'invalid_request');
    const answer = await agent.send('/oauth/token', { method: 'POST', headers: {} });
    expectTokenError(answer, 'invalid_request');
  });
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

  it('7.2 tells a wrong client_id, a wrong secret and a blocked application apart by nothing', async () => {
    const answers = [
      await exchange(server, shop, NEVER_ISSUED, { client_id: 'nobody' }),
      await exchange(server, shop, NEVER_ISSUED, { client_secret: 'wrong' }),
      await exchange(server, shop, NEVER_ISSUED, { client_secret: undefined }),
      await exchange(server, blocked, NEVER_ISSUED),
    ];
    expect(new Set(answers.map(({ status, body }) => `${status} ${body}`)).size).toBe(1);
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
    'x',
    ' ',
    'assent_ac_',
    `assent_ac_${'A'.repeat(63)}`,
    `assent_ac_${'A'.repeat(65)}`,
    `assent_ac_${'+'.repeat(64)}`,
    `assent_at_${'A'.repeat(64)}`,
    "' or '1'='1",
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

  it('7.2 answers a code that expired with it', async () => {
    const client = await server.createClient();
    const code = await codeFor(client);
    await expireCode(server, client);
    expectTokenError(await exchange(server, client, code), 'invalid_grant');
  });

  it('7.2 answers a code for which an access token was issued with it', async () => {
    const code = await codeFor(shop);
    expectToken(await exchange(server, shop, code));
    expectTokenError(await exchange(server, shop, code), 'invalid_grant');
  });

  it('7.2 answers a code of another application with it, and keeps it usable for its owner', async () => {
    const other = await server.createClient({ verified: false });
    const code = await codeFor(shop);
    expectTokenError(await exchange(server, other, code), 'invalid_grant');
    expectTokenError(await exchange(server, reader, code), 'invalid_grant');
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
    const account = await browser.get('/account');
    const form = account.forms.find(({ action }) => action === '/account/disconnect');
    expect((await browser.post('/account/disconnect', form?.fields ?? {})).status).toBe(303);
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

  it('7.2 harms no token that was issued before', async () => {
    const client = await server.createClient();
    const token = expectToken(await exchange(server, client, await codeFor(client)));
    for (const changes of [{}, { client_secret: 'x' }, { grant_type: 'x' }] as Changes[])
      await exchange(server, client, NEVER_ISSUED, changes);
    expect(await isLive(server, resource, token)).toBe(true);
  });
});
