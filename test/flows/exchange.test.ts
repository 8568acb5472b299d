import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { exchange } from '../../src/flows/token/exchange.ts';
import type { TokenRequest } from '../../src/rules/request/tokenRequest.ts';
import { s256 } from '../../src/secrets/digest.ts';
import { actorsAt } from '../support/account.ts';
import { obtainCode, requestOf } from '../support/flow.ts';
import { newSecret } from '../support/ledger.ts';
import { intercept } from '../support/postgres/intercept.ts';
import { CALLER, useServer } from '../support/server.ts';
import { isLive } from '../support/state.ts';

const server = await useServer();

/** The pool, but the answer to its first exchange is lost on the way: the commit is not. */
function losesFirstAnswer(pool: pg.Pool): pg.Pool {
  let lost = false;
  return intercept(pool, async (statement, run) => {
    const answer = await run();
    if (lost || statement.name !== 'grant-exchange') return answer;
    lost = true;
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  });
}

async function tokenRequest(fields: Record<string, string> = {}): Promise<TokenRequest> {
  const { client, user, agent } = await actorsAt(server);
  const code = await obtainCode(agent, requestOf(client, fields), user);
  const { clientId, clientSecret, redirectUri } = client;
  return { code, clientId, clientSecret, redirectUri, codeVerifier: null };
}

describe('an exchange whose response from the database is lost', () => {
  it('is repeated with the same token, which works until the application exchanges the code again', async () => {
    const request = await tokenRequest();
    const context = { ...server.context, db: losesFirstAnswer(server.context.db) };
    const { accessToken } = await exchange(context, request, CALLER);
    const resource = await server.createResource();
    expect(await isLive(server, resource, accessToken)).toBe(true);
    await expect(exchange(server.context, request, CALLER)).rejects.toMatchObject({ code: 'invalid_grant' });
    expect(await isLive(server, resource, accessToken)).toBe(false);
  });
});

describe('the logged rule', () => {
  const [verifier, other] = [newSecret(), newSecret()];
  const challenge = { code_challenge: s256(verifier), code_challenge_method: 'S256' };

  /** Expects that the application is told nothing but that its code is not valid. */
  async function expectRefused(request: TokenRequest, rule: string): Promise<void> {
    const refused = { code: 'invalid_grant', message: 'The code is not valid.', rule };
    await expect(exchange(server.context, request, CALLER)).rejects.toMatchObject(refused);
  }

  it.each([
    [
      'no verifier',
      challenge,
      null,
      'code_verifier is missing, but the request had a code_challenge; the code stays usable',
    ],
    [
      'one too many',
      {},
      verifier,
      'code_verifier was sent, but the request had no code_challenge; the code stays usable',
    ],
    ['another one', challenge, other, 'code_verifier does not match; the code stays usable'],
  ])('distinguishes %s', async (_what, fields, codeVerifier, rule) => {
    await expectRefused({ ...(await tokenRequest(fields)), codeVerifier }, rule);
  });

  const MALFORMED = 'malformed code: not issued by this server';
  const UNKNOWN = 'code never issued to this client, or annulled';

  it.each([
    ['a code that was cut off', (code: string) => code.slice(0, -1), MALFORMED],
    ['an access token', (code: string) => code.replace('_ac_', '_at_'), MALFORMED],
    ['a code never issued', (code: string) => `${code.slice(0, -4)}AAAA`, UNKNOWN],
  ])('distinguishes %s from others', async (_what, change, rule) => {
    const request = await tokenRequest();
    await expectRefused({ ...request, code: change(request.code) }, rule);
  });
});
