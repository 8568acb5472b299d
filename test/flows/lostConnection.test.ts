import { describe, expect, it } from 'vitest';
import { actorsAt } from '../support/account.ts';
import { Agent } from '../support/agent.ts';
import { askAndCut } from '../support/askAndCut.ts';
import {
  codeOf,
  decide,
  introspect,
  obtainCode,
  obtainToken,
  reachConsent,
  requestOf,
  tokenRequestOf,
} from '../support/flow.ts';
import { useServer } from '../support/server.ts';

const server = await useServer();
const { pool } = server.database;

describe('a connection that breaks while the answer is on its way', () => {
  it('costs an exchange nothing, and it happens once', async () => {
    const { client, user, agent } = await actorsAt(server);
    const code = await obtainCode(agent, requestOf(client), user);
    const lock = `select from grants where client_id = '${client.clientId}' for update`;
    const answer = await askAndCut(pool, lock, () =>
      agent.post('/oauth/token', tokenRequestOf(client, code)),
    );
    expect(answer.status).toBe(200);
    const exchanged = `select from audit_events where client_id = $1 and kind = 'exchanged'`;
    expect((await server.database.pool.query(exchanged, [client.clientId])).rowCount).toBe(1);
  });

  it('costs an approval nothing, and it happens once', async () => {
    const { client, user, agent } = await actorsAt(server);
    const consent = await reachConsent(agent, requestOf(client), user);
    const answer = await askAndCut(pool, 'lock table grants in share mode', () =>
      decide(agent, consent, 'allow'),
    );
    const exchanged = await agent.post('/oauth/token', tokenRequestOf(client, codeOf(answer)));
    expect(exchanged.status).toBe(200);
    const approved = `select from audit_events where client_id = $1 and kind = 'approved'`;
    expect((await server.database.pool.query(approved, [client.clientId])).rowCount).toBe(1);
  });

  it('costs a question about a token nothing', async () => {
    const [client, user] = [await server.createClient(), await server.createUser()];
    const resource = await server.createResource();
    const token = await obtainToken(new Agent(server.baseUrl), client, user);
    const answer = await askAndCut(pool, 'lock table resources', () => introspect(server, resource, token));
    expect(answer).toMatchObject({ active: true, client_id: client.clientId });
  });

  it('costs a page nothing', async () => {
    const { client, user, agent } = await actorsAt(server);
    const signIn = await askAndCut(pool, 'lock table clients', () =>
      agent.get(`/oauth/authorize?${new URLSearchParams(requestOf(client))}`),
    );
    expect([signIn.status, signIn.page]).toEqual([200, 'sign-in']);
    expect((await reachConsent(agent, requestOf(client), user)).page).toBe('consent');
  });
});
