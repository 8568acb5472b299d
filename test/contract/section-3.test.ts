import { describe, expect, it } from 'vitest';
import { decide, obtainToken } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { expectToken, expectTokenError } from '../support/http/tokenRequests.ts';
import { newSecret } from '../support/ledger.ts';
import { useServer } from '../support/server.ts';
import { expireCode } from '../support/state.ts';
import { flowAt } from './flowAt.ts';

const server = await useServer();
const { agent, reachPage, reject, codeFor, exchanged, tokenFor, introspected, live, writingNothing } =
  await flowAt(server);

async function newCode() {
  const client = await server.createClient();
  return { client, code: await codeFor(client) };
}

async function newToken() {
  const { client, code } = await newCode();
  return { client, code, token: expectToken(await exchanged(client, code)) };
}

describe('contract 3: exchange of a code for an access token', () => {
  it('3 refuses an expired code, and issues a token after a new authorization [contract-13]', async () => {
    const { client, code } = await newCode();
    await expireCode(server, client);
    expectTokenError(await writingNothing(() => exchanged(client, code)), 'invalid_grant');
    expectToken(await exchanged(client, await codeFor(client)));
    expectTokenError(await exchanged(client, code), 'invalid_grant');
  });

  it('3 refuses a code the second time and every time after, and revokes its token [contract-14]', async () => {
    const { client, code, token } = await newToken();
    for (let times = 0; times < 3; times += 1) {
      expectTokenError(await exchanged(client, code), 'invalid_grant');
      expect(await live(token)).toBe(false);
    }
    expect(await live(await tokenFor(client))).toBe(true);
  });

  it.each([
    ['a wrong client_secret', { client_secret: 'wrong' }, 'unauthorized_client'],
    ['no client_secret', { client_secret: undefined }, 'unauthorized_client'],
    ['another redirect_uri', { redirect_uri: 'http://127.0.0.1:9/callback?' }, 'invalid_grant'],
    ['a code_verifier although no code_challenge was sent', { code_verifier: newSecret() }, 'invalid_grant'],
    ['another client’s credentials', {}, 'invalid_grant'],
  ])('3 keeps the token when its code is replayed with %s', async (what, changes, error) => {
    const { client, code, token } = await newToken();
    const by = what === 'another client’s credentials' ? await server.createClient() : client;
    expectTokenError(await exchanged(by, code, changes), error);
    expect(await live(token)).toBe(true);
  });
});

describe('contract 3: a new authorization', () => {
  it('3 annuls the earlier token permanently at the confirmation, before any exchange, for any scopes [contract-15]', async () => {
    const client = await server.createClient();
    const token = await tokenFor(client, { scope: 'payment-p2p' });
    const page = await reachPage(client, { scope: 'account-info' });
    expect(await live(token)).toBe(true);
    await decide(agent, page, 'allow');
    expect(await live(token)).toBe(false);
    await expireCode(server, client);
    expect(await live(token)).toBe(false);
    const later = await tokenFor(client, { scope: 'account-info' });
    expect(await introspected(later)).toMatchObject({ scope: 'account-info' });
    await reject(client);
    expect(await live(token)).toBe(false);
  });

  it('3 keeps the earlier code or token when the user rejects [contract-16]', async () => {
    const { client, code } = await newCode();
    await reject(client);
    const token = expectToken(await exchanged(client, code));
    await reject(client);
    expect(await live(token)).toBe(true);
  });

  it.each([
    ['phone', 'phone', false],
    ['phone', 'Phone', true],
    ['', '', false],
    ['', 'phone', true],
    ['phone', '', true],
    ['é', 'e\u0301', true],
  ])(
    '3 keeps only tokens of other instances: instance %j, then instance %j (kept: %s) [contract-17]',
    async (one, two, stays) => {
      const client = await server.createClient();
      const earlier = await tokenFor(client, { instance_name: one });
      const later = await tokenFor(client, { instance_name: two });
      expect([await live(earlier), await live(later)]).toEqual([stays, true]);
    },
  );

  it('3 keeps the authorizations of other users and of other applications', async () => {
    const { client, token } = await newToken();
    const neighbour = await server.createUser({ paymentPassword: null });
    const theirs = await obtainToken(new Agent(server.baseUrl), client, neighbour);
    const elsewhere = await newToken();
    await tokenFor(client);
    expect([await live(theirs), await live(elsewhere.token), await live(token)]).toEqual([true, true, false]);
  });
});
