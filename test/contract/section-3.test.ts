import { describe, expect, it } from 'vitest';
import { Agent, type Answer } from '../support/agent.ts';
import {
  codeOf,
  decide,
  introspect,
  obtainCode,
  obtainToken,
  reachConsent,
  requestOf,
} from '../support/flow.ts';
import { type TestClient, useServer } from '../support/server.ts';
import { contentsOf, expireCode, isLive } from '../support/state.ts';
import { exchange, expectToken, expectTokenError, type Fields } from '../support/tokenRequests.ts';

const server = await useServer();

const user = await server.createUser({ paymentPassword: null });
const agent = new Agent(server.baseUrl);
const resource = await server.createResource();

function codeFor(client: TestClient, fields: Fields = {}): Promise<string> {
  return obtainCode(agent, requestOf(client, fields), user);
}

async function refuse(client: TestClient, fields: Fields = {}): Promise<Answer> {
  return decide(agent, await reachConsent(agent, requestOf(client, fields), user), 'reject');
}

function live(token: string): Promise<boolean> {
  return isLive(server, resource, token);
}

describe('contract 3: from no authorization to a code', () => {
  it('3 issues a code when the user confirms and redirects the browser with it', async () => {
    const client = await server.createClient();
    const answer = await decide(agent, await reachConsent(agent, requestOf(client), user), 'allow');
    expect(answer.status).toBe(302);
    expect(answer.location).toMatch(/^http:\/\/127\.0\.0\.1:9\/callback\?code=[A-Za-z0-9._~-]+$/);
  });

  it('3 gives no code when the user rejects and redirects the browser with error=access_denied', async () => {
    const client = await server.createClient();
    const answer = await refuse(client);
    expect(answer.status).toBe(302);
    expect(answer.location).toBe(`${client.redirectUri}?error=access_denied`);
    const { rows } = await server.database.pool.query('select from grants where client_id = $1', [
      client.clientId,
    ]);
    expect(rows).toHaveLength(0);
  });
});

describe('contract 3: from a code to an access token', () => {
  it('3 refuses a code that expired, and the procedure is repeated from the beginning', async () => {
    const client = await server.createClient();
    const code = await codeFor(client);
    await expireCode(server, client);
    const before = await contentsOf(server);
    expectTokenError(await exchange(server, client, code), 'invalid_grant');
    expect(await contentsOf(server)).toEqual(before);
    expectToken(await exchange(server, client, await codeFor(client)));
    expectTokenError(await exchange(server, client, code), 'invalid_grant');
  });

  it('3 refuses a code the second time, and every time after', async () => {
    const client = await server.createClient();
    const code = await codeFor(client);
    expectToken(await exchange(server, client, code));
    for (let times = 0; times < 3; times += 1)
      expectTokenError(await exchange(server, client, code), 'invalid_grant');
  });

  it('3 gives one token when one code is exchanged many times at once', async () => {
    const client = await server.createClient();
    const code = await codeFor(client);
    const answers = await Promise.all(Array.from({ length: 6 }, () => exchange(server, client, code)));
    const tokens = answers.filter((answer) => answer.status === 200);
    const refused = answers.filter((answer) => answer.status === 400);
    expect([tokens.length, refused.length]).toEqual([1, 5]);
    for (const answer of refused) expectTokenError(answer, 'invalid_grant');
  });

  it('3 annuls the token when its code comes again within the lifetime of the code', async () => {
    const client = await server.createClient();
    const code = await codeFor(client);
    const token = expectToken(await exchange(server, client, code));
    expectTokenError(await exchange(server, client, code), 'invalid_grant');
    expect(await live(token)).toBe(false);
    expect(await live(await obtainToken(agent, client, user))).toBe(true);
  });

  it.each([
    ['another secret', { client_secret: 'wrong' }, 'unauthorized_client'],
    ['no secret', { client_secret: undefined }, 'unauthorized_client'],
    ['another redirect_uri', { redirect_uri: 'http://127.0.0.1:9/callback?' }, 'invalid_grant'],
    ['a verifier that was not asked', { code_verifier: 'x'.repeat(43) }, 'invalid_grant'],
  ])('3 keeps the token when its code comes again with %s', async (_what, changes, error) => {
    const client = await server.createClient();
    const code = await codeFor(client);
    const token = expectToken(await exchange(server, client, code));
    expectTokenError(await exchange(server, client, code, changes), error);
    expect(await live(token)).toBe(true);
  });

  it('3 keeps the token when its code comes again from another application', async () => {
    const [client, other] = [await server.createClient(), await server.createClient()];
    const code = await codeFor(client);
    const token = expectToken(await exchange(server, client, code));
    expectTokenError(await exchange(server, other, code), 'invalid_grant');
    expect(await live(token)).toBe(true);
  });
});

describe('contract 3: a new authorization annuls the earlier one', () => {
  it('3 annuls the token at the new confirmation, before any exchange', async () => {
    const client = await server.createClient();
    const token = await obtainToken(agent, client, user);
    const page = await reachConsent(agent, requestOf(client), user);
    expect(await live(token)).toBe(true);
    await decide(agent, page, 'allow');
    expect(await live(token)).toBe(false);
  });

  it('3 annuls it for good: it does not come back when the new code expires or its grant is refused', async () => {
    const client = await server.createClient();
    const token = await obtainToken(agent, client, user);
    await codeFor(client);
    await expireCode(server, client);
    await refuse(client);
    expect(await live(token)).toBe(false);
  });

  it('3 annuls permissions, whatever the scopes of both were', async () => {
    const client = await server.createClient();
    const token = await obtainToken(agent, client, user, { scope: 'payment-p2p' });
    const later = await obtainToken(agent, client, user, { scope: 'account-info' });
    expect(await live(token)).toBe(false);
    expect(await introspect(server, resource, later)).toMatchObject({ scope: 'account-info' });
  });

  it('3 annuls nothing when the user rejects: neither a token nor a code', async () => {
    const client = await server.createClient();
    const code = await codeFor(client);
    await refuse(client);
    const token = expectToken(await exchange(server, client, code));
    await refuse(client);
    expect(await live(token)).toBe(true);
  });

  it.each([
    ['phone', 'phone', false],
    ['phone', 'tablet', true],
    ['phone', 'Phone', true],
    ['phone', 'phone 2', true],
    ['', '', false],
    ['', 'phone', true],
    ['phone', '', true],
    ['é', 'e\u0301', true],
  ])(
    '3 after instance %j a confirmation for %j leaves the earlier token live: %s',
    async (one, two, stays) => {
      const client = await server.createClient();
      const earlier = await obtainToken(agent, client, user, { instance_name: one });
      const later = await obtainToken(agent, client, user, { instance_name: two });
      expect([await live(earlier), await live(later)]).toEqual([stays, true]);
    },
  );

  it('3 leaves the authorizations of other users and of other applications alone', async () => {
    const [client, other] = [await server.createClient(), await server.createClient()];
    const neighbour = await server.createUser({ paymentPassword: null });
    const theirs = await obtainToken(new Agent(server.baseUrl), client, neighbour);
    const elsewhere = await obtainToken(agent, other, user);
    const mine = await obtainToken(agent, client, user);
    await obtainToken(agent, client, user);
    expect([await live(theirs), await live(elsewhere), await live(mine)]).toEqual([true, true, false]);
  });

  it('3 lets one of two different forms win when both are sent at once', async () => {
    const client = await server.createClient();
    const pages = [
      await reachConsent(agent, requestOf(client, { scope: 'account-info' }), user),
      await reachConsent(agent, requestOf(client, { scope: 'operation-history' }), user),
    ];
    const answers = await Promise.all(pages.map((page) => decide(agent, page, 'allow')));
    expect(answers.map(({ status }) => status).sort()).toEqual([302, 303]);
    const [won] = answers.filter(({ status }) => status === 302);
    expect(won).toBeDefined();
    if (won) expectToken(await exchange(server, client, codeOf(won)));
  });
});
