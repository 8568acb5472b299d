import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { tokenExpiresAt } from '../../../src/rules/common/lifetimes.ts';
import { hexOf, sha256 } from '../../../src/secrets/digest.ts';
import { flowAt } from '../../contract/flowAt.ts';
import { obtainToken } from '../../support/flow.ts';
import { Agent } from '../../support/http/agent.ts';
import { ledger } from '../../support/ledger.ts';
import { commandsOn } from '../../support/process/commands.ts';
import { onDatabase } from '../../support/process/process.ts';
import { type TestClient, useServer } from '../../support/server.ts';

// Tokens of an earlier service name no grant: `imported_tokens` has theirs. They work like our own.

const server = await useServer();
const { agent, introspected: told } = await flowAt(server);
const { json } = commandsOn(onDatabase(server.database.url));
const SCOPE = 'account-info payment-shop.limit(7,5000)';

async function imported(issuedAt = new Date(Date.now() - 86_400_000)) {
  const token = `old.${randomBytes(24).toString('base64')}`;
  ledger.note('access token', token);
  const [user, client] = [await server.createUser({ paymentPassword: null }), await server.createClient()];
  const row = { login: user.login, client_id: client.clientId, scope: SCOPE, issued_at: issuedAt };
  const result = await json('grant import', JSON.stringify({ ...row, token_sha256: hexOf(sha256(token)) }));
  expect(result).toMatchObject({ imported: 1, bad: 0 });
  return { user, client, token, issuedAt };
}

const revoke = (token: string) => agent.post('/api/revoke', {}, { authorization: `Bearer ${token}` });

const revokeAs = ({ clientId, clientSecret }: TestClient, token: string) =>
  agent.post('/oauth/revoke', { token, client_id: clientId, client_secret: clientSecret ?? '' });

describe('an imported token', () => {
  it('is introspected like a token of Assent, with the same lifetime from its own issue', async () => {
    const { user, client, token, issuedAt } = await imported();
    const limit = { right: 'payment-shop', period_days: 7, amount: '5000', currency: 'RUB' };
    expect(await told(token)).toMatchObject({
      active: true,
      scope: SCOPE,
      client_id: client.clientId,
      sub: user.userId,
      iat: Math.floor(issuedAt.getTime() / 1000),
      exp: Math.floor(tokenExpiresAt(issuedAt).getTime() / 1000),
      payment_limits: [limit],
    });
    expect(await told(`${token}x`)).toEqual({ active: false });
    expect(await json('token show', token)).toMatchObject({ token: 'active', login: user.login });
  });

  it('is revoked by its bearer or its own application only', async () => {
    const [first, second] = [await imported(), await imported()];
    await revoke(first.token);
    expect(await told(first.token)).toEqual({ active: false });
    await revokeAs(first.client, second.token);
    expect(await told(second.token)).toMatchObject({ active: true });
    for (let times = 0; times < 2; times += 1)
      expect((await revokeAs(second.client, second.token)).status).toBe(200);
    expect(await told(second.token)).toEqual({ active: false });
    const events = await json<{ outcome: string }[]>(`audit --login ${second.user.login}`);
    const outcomes = ['user_created', 'imported', 'revoked_by_application'];
    expect(events.map(({ outcome }) => outcome)).toEqual(outcomes);
  });

  it('is annulled by a new authorization, and stays annulled after the new one is revoked', async () => {
    const { user, client, token } = await imported();
    const ours = await obtainToken(new Agent(server.baseUrl), client, user, { scope: 'account-info' });
    expect(await told(token)).toEqual({ active: false });
    const { grant_id } = await told(ours);
    await revoke(token);
    expect(await told(ours)).toMatchObject({ active: true });
    await revoke(ours);
    expect(await told(token)).toEqual({ active: false });
    expect(await json(`grant show ${grant_id}`)).toMatchObject({ state: 'revoked' });
  });

  it('expires exactly at the end of its lifetime', async () => {
    const lastMoment = new Date(Date.now() + 3_000);
    const issuedAt = new Date(lastMoment);
    issuedAt.setUTCFullYear(issuedAt.getUTCFullYear() - 3);
    const { token } = await imported(issuedAt);
    expect(await told(token)).toMatchObject({ active: true });
    await expect.poll(() => told(token)).toEqual({ active: false });
    expect(Date.now()).toBeGreaterThanOrEqual(lastMoment.getTime());
  });
});
