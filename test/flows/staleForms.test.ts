import { describe, expect, it } from 'vitest';
import { approveGrant } from '../../src/store/approvals.ts';
import { revokeGrants } from '../../src/store/revocations.ts';
import { Agent } from '../support/agent.ts';
import { decide, obtainCode, obtainToken, reachConsent, requestOf, tokenRequestOf } from '../support/flow.ts';
import { approvalOf } from '../support/samples.ts';
import { CALLER, type TestClient, type TestUser, useServer } from '../support/server.ts';

const server = await useServer();

/** Everything that raises the revision of a grant: a page from before it shows what is not so any more. */
const CHANGES: Record<string, (agent: Agent, client: TestClient, user: TestUser) => Promise<void>> = {
  async 'a newer approval'(agent, client, user) {
    await obtainCode(agent, requestOf(client, { state: 'newer' }), user);
  },
  async 'a disconnection by the user'(agent) {
    const account = await agent.get('/account');
    const form = account.forms.find(({ action }) => action === '/account/disconnect');
    await agent.post('/account/disconnect', form?.fields ?? {});
  },
  async 'a revocation by the operator'(_agent, client) {
    const { rows } = await server.database.pool.query<{ grant_id: string }>(
      'select grant_id from grants where client_id = $1',
      [client.clientId],
    );
    await revokeGrants(server.database.pool, [rows[0]?.grant_id ?? ''], 'tests', CALLER.decideBy);
  },
};

describe('a consent form that is older than', () => {
  it.each(Object.keys(CHANGES))('%s decides nothing', async (name) => {
    const [client, user] = [await server.createClient(), await server.createUser()];
    const agent = new Agent(server.baseUrl);
    await obtainToken(agent, client, user);
    const old = await reachConsent(agent, requestOf(client, { state: 'old' }), user);
    await CHANGES[name]?.(agent, client, user);
    const answer = await decide(agent, old, 'allow');
    expect(answer.status).toBe(303);
    expect(answer.location).toContain('state=old');
  });

  it('a replay that revoked the token decides nothing', async () => {
    const [client, user] = [await server.createClient(), await server.createUser()];
    const agent = new Agent(server.baseUrl);
    const code = await obtainCode(agent, requestOf(client), user);
    await agent.post('/oauth/token', tokenRequestOf(client, code));
    const old = await reachConsent(agent, requestOf(client, { state: 'old' }), user);
    await agent.post('/oauth/token', tokenRequestOf(client, code));
    expect((await decide(agent, old, 'allow')).status).toBe(303);
  });
});

describe('an approval at the very moment of a block', () => {
  it.each([
    ['the client', `update clients set status = 'blocked' where client_id = $1`, 0],
    ['the user', `update users set status = 'blocked' where user_id = $1::uuid`, 1],
  ])('writes nothing when %s is blocked', async (_who, block, index) => {
    const [client, user] = [await server.createClient(), await server.createUser()];
    await server.database.pool.query(block, [[client.clientId, user.userId][index]]);
    const verdict = await approveGrant(server.database.pool, approvalOf(client, user));
    expect(verdict).toBe('blocked');
  });
});

describe('the payment password', () => {
  const SPENDING = { scope: 'payment-shop' };

  it('is asked again for the next authorization, however soon', async () => {
    const [client, user] = [await server.createClient(), await server.createUser()];
    const agent = new Agent(server.baseUrl);
    await obtainCode(agent, requestOf(client, SPENDING), user);
    const again = await agent.get(`/oauth/authorize?${new URLSearchParams(requestOf(client, SPENDING))}`);
    expect(again.page).toBe('payment-password');
  });

  it('has to be typed again when the page is opened after it was too long ago', async () => {
    const [client, user] = [await server.createClient(), await server.createUser()];
    const agent = new Agent(server.baseUrl);
    await reachConsent(agent, requestOf(client, SPENDING), user);
    await server.database.pool.query(
      `update sessions set confirmed_at = confirmed_at - interval '5 minutes'`,
    );
    const late = await agent.get(`/oauth/authorize?${new URLSearchParams(requestOf(client, SPENDING))}`);
    expect(late.page).toBe('payment-password');
  });

  it('lets two requests be open side by side, each confirmed and allowed on its own', async () => {
    const [one, other] = [await server.createClient(), await server.createClient()];
    const user = await server.createUser();
    const agent = new Agent(server.baseUrl);
    const first = await reachConsent(agent, requestOf(one, SPENDING), user);
    const second = await reachConsent(agent, requestOf(other, SPENDING), user);
    expect((await decide(agent, first, 'allow')).status).toBe(302);
    expect((await decide(agent, second, 'allow')).status).toBe(302);
  });

  it('confirms one decision, which may be sent twice', async () => {
    const [client, user] = [await server.createClient(), await server.createUser()];
    const agent = new Agent(server.baseUrl);
    const consent = await reachConsent(agent, requestOf(client, SPENDING), user);
    const first = await decide(agent, consent, 'allow');
    const second = await decide(agent, consent, 'allow');
    expect([first.status, second.location]).toEqual([302, first.location]);
  });
});
