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

async function tokenRequest(fields: Record<string, string> = {}): Promise<TokenRequest> {
  const { client, user, agent } = await actorsAt(server);
  const code = await obtainCode(agent, requestOf(client, fields), user);
  const { clientId, clientSecret, redirectUri } = client;
  return { code, clientId, clientSecret, redirectUri, codeVerifier: null };
}

it('an exchange whose response is lost is repeated with the same token, which works until the code is replayed', async () => {
  const request = await tokenRequest();
  let lost = false;
  const db = intercept(server.context.db, async (statement, run) => {
    const answer = await run();
    if (lost || statement.name !== 'grant-exchange') return answer;
    lost = true; // the commit is not
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  });
  const { accessToken } = await exchange({ ...server.context, db }, request, CALLER);
  const resource = await server.createResource();
  expect(await isLive(server, resource, accessToken)).toBe(true);
  await expect(exchange(server.context, request, CALLER)).rejects.toMatchObject({ code: 'invalid_grant' });
  expect(await isLive(server, resource, accessToken)).toBe(false);
});

describe('the logged rule', () => {
  const [verifier, other] = [newSecret(), newSecret()];
  const challenge = { code_challenge: s256(verifier), code_challenge_method: 'S256' };
  const MALFORMED = 'malformed code: not issued by this server';
  const MISSING = 'code_verifier is missing, but the request had a code_challenge';
  const UNASKED = 'code_verifier was sent, but the request had no code_challenge';
  const WRONG = 'code_verifier does not match';

  const verifying = (codeVerifier: string | null) => () => ({ codeVerifier });
  const spoiling =
    (spoil: (code: string) => string) =>
    ({ code }: TokenRequest) => ({ code: spoil(code) });

  it.each<[string, Record<string, string>, (right: TokenRequest) => Partial<TokenRequest>, string]>([
    ['no verifier', challenge, verifying(null), `${MISSING}; the code stays usable`],
    ['one too many', {}, verifying(verifier), `${UNASKED}; the code stays usable`],
    ['another one', challenge, verifying(other), `${WRONG}; the code stays usable`],
    ['a code that was cut off', {}, spoiling((code) => code.slice(0, -1)), MALFORMED],
    ['an access token', {}, spoiling((code) => code.replace('_ac_', '_at_')), MALFORMED],
    [
      'a code never issued',
      {},
      spoiling((code) => `${code.slice(0, -4)}AAAA`),
      'code never issued to this client, or annulled',
    ],
  ])('distinguishes %s, and the application is told only that its code is not valid', async (...row) => {
    const [, fields, change, rule] = row;
    const request = await tokenRequest(fields);
    const refused = { code: 'invalid_grant', message: 'The code is not valid.', rule };
    const answer = exchange(server.context, { ...request, ...change(request) }, CALLER);
    await expect(answer).rejects.toMatchObject(refused);
  });
});
