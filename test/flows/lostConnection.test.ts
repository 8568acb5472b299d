import { describe, expect, it } from 'vitest';
import { actorsAt } from '../support/account.ts';
import {
  codeOf,
  decide,
  introspect,
  linkTo,
  obtainCode,
  obtainToken,
  reachConsent,
  requestOf,
} from '../support/flow.ts';
import { exchange, expectToken } from '../support/http/tokenRequests.ts';
import { askAndCut } from '../support/postgres/locks.ts';
import { useServer } from '../support/server.ts';

const server = await useServer();
const { pool } = server.database;

async function eventsOf(clientId: string, kind: string): Promise<number | null> {
  const events = 'select from audit_events where client_id = $1 and kind = $2';
  return (await pool.query(events, [clientId, kind])).rowCount;
}

describe('a connection that breaks before the response', () => {
  it('does not fail an exchange, which happens once', async () => {
    const { client, user, agent } = await actorsAt(server);
    const code = await obtainCode(agent, requestOf(client), user);
    const lock = `select from grants where client_id = '${client.clientId}' for update`;
    expectToken(await askAndCut(pool, lock, () => exchange(server, client, code)));
    expect(await eventsOf(client.clientId, 'exchanged')).toBe(1);
  });

  it('does not fail an approval, which happens once', async () => {
    const { client, user, agent } = await actorsAt(server);
    const consent = await reachConsent(agent, requestOf(client), user);
    const lock = 'lock table grants in share mode';
    const answer = await askAndCut(pool, lock, () => decide(agent, consent, 'allow'));
    expectToken(await exchange(server, client, codeOf(answer)));
    expect(await eventsOf(client.clientId, 'approved')).toBe(1);
  });

  it('does not fail an introspection', async () => {
    const { client, user, agent } = await actorsAt(server);
    const resource = await server.createResource();
    const token = await obtainToken(agent, client, user);
    const answer = await askAndCut(pool, 'lock table resources', () => introspect(server, resource, token));
    expect(answer).toMatchObject({ active: true, client_id: client.clientId });
  });

  it('does not fail a page', async () => {
    const { client, agent } = await actorsAt(server);
    const url = linkTo(requestOf(client));
    const page = await askAndCut(pool, 'lock table clients', () => agent.get(url));
    expect([page.status, page.page]).toEqual([200, 'sign-in']);
  });
});
