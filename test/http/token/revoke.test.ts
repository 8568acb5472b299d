import { describe, expect, it } from 'vitest';
import { flowAt } from '../../contract/flowAt.ts';
import { expectTokenError } from '../../support/http/tokenRequests.ts';
import { newSecret } from '../../support/ledger.ts';
import { type TestClient, useServer } from '../../support/server.ts';

const server = await useServer();
const { agent, tokenFor, live } = await flowAt(server);

const credentialsOf = ({ clientId, clientSecret }: TestClient) => ({
  client_id: clientId,
  client_secret: clientSecret ?? '',
});

describe('RFC 7009: token revocation', () => {
  it.each([true, false])(
    'revokes the token of the application (confidential: %s), with the same response the second time [revoke-1]',
    async (verified) => {
      const client = await server.createClient({ verified });
      const token = await tokenFor(client);
      const fields = { token, token_type_hint: 'access_token', ...credentialsOf(client) };
      for (let times = 0; times < 2; times += 1) {
        const answer = await agent.post('/oauth/revoke', fields);
        expect([answer.status, answer.body]).toEqual([200, '{}']);
        expect(await live(token)).toBe(false);
      }
      const events = `select from audit_events where client_id = $1 and kind = 'revoked_by_application'`;
      expect((await server.database.pool.query(events, [client.clientId])).rowCount).toBe(1);
    },
  );

  it('answers unknown, malformed and other clients’ tokens alike, and revokes none [revoke-2]', async () => {
    const [client, other] = [await server.createClient(), await server.createClient()];
    const foreign = await tokenFor(other);
    const neverIssued = `${foreign.slice(0, -43)}${newSecret()}`;
    for (const token of [foreign, 'nothing', `${foreign.slice(0, -1)}A`, neverIssued]) {
      const answer = await agent.post('/oauth/revoke', { token, ...credentialsOf(client) });
      expect([answer.status, answer.body]).toEqual([200, '{}']);
    }
    expect(await live(foreign)).toBe(true);
  });

  it('refuses a wrong or missing secret, an unknown client and a missing token', async () => {
    const client = await server.createClient();
    const token = await tokenFor(client);
    const right = credentialsOf(client);
    for (const [error, fields] of [
      ['unauthorized_client', { ...right, client_secret: '', token }],
      ['unauthorized_client', { ...right, client_secret: 'wrong', token }],
      ['unauthorized_client', { ...right, client_id: 'unknown', token }],
      ['invalid_request', right],
    ] as const)
      expectTokenError(await agent.post('/oauth/revoke', fields), error);
    expect(await live(token)).toBe(true);
  });
});

it('POST /api/revoke answers 200 to an unknown token, and refuses a missing one', async () => {
  const revoke = (authorization: string) =>
    agent.send('/api/revoke', { method: 'POST', headers: { authorization } });
  expect((await revoke(`Bearer assent_at_${newSecret()}${newSecret().slice(0, 21)}`)).status).toBe(200);
  for (const authorization of ['', 'Bearer', 'Basic eDp5'])
    expectTokenError(await revoke(authorization), 'invalid_request');
});
