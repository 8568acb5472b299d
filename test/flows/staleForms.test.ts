import { describe, expect, it } from 'vitest';
import { revokeGrants } from '../../src/store/token/revocations.ts';
import { actorsAt, press } from '../support/account.ts';
import type { Agent } from '../support/agent.ts';
import { decide, obtainCode, obtainToken, reachConsent, requestOf, tokenRequestOf } from '../support/flow.ts';
import { CALLER, type TestClient, type TestUser, useServer } from '../support/server.ts';

const server = await useServer();

/** Everything that raises the revision of a grant: a page from before it shows what is not so any more. */
const CHANGES: Record<string, (agent: Agent, client: TestClient, user: TestUser) => Promise<void>> = {
  async 'a newer approval'(agent, client, user) {
    await obtainCode(agent, requestOf(client, { state: 'newer' }), user);
  },
  async 'a disconnection by the user'(agent) {
    await press(agent, await agent.get('/account'), '/account/disconnect');
  },
  async 'a revocation by the operator'(_agent, client) {
    const { rows } = await server.database.pool.query<{ grant_id: string }>(
      'select grant_id from grants where client_id = $1',
      [client.clientId],
    );
    await revokeGrants(server.database.pool, {
      grantIds: [rows[0]?.grant_id ?? ''],
      operator: 'tests',
      ...CALLER,
    });
  },
};

describe('a consent form that is older than', () => {
  it.each(Object.keys(CHANGES))('%s decides nothing', async (name) => {
    const { client, user, agent } = await actorsAt(server);
    await obtainToken(agent, client, user);
    const old = await reachConsent(agent, requestOf(client, { state: 'old' }), user);
    await CHANGES[name]?.(agent, client, user);
    const answer = await decide(agent, old, 'allow');
    expect(answer.status).toBe(303);
    expect(answer.location).toContain('state=old');
  });

  it('a replay that revoked the token decides nothing', async () => {
    const { client, user, agent } = await actorsAt(server);
    const code = await obtainCode(agent, requestOf(client), user);
    await agent.post('/oauth/token', tokenRequestOf(client, code));
    const old = await reachConsent(agent, requestOf(client, { state: 'old' }), user);
    await agent.post('/oauth/token', tokenRequestOf(client, code));
    expect((await decide(agent, old, 'allow')).status).toBe(303);
  });
});
