import { describe, expect, it } from 'vitest';
import { actorsAt } from '../support/account.ts';
import { codeOf, decide, introspect, linkTo, obtainCode, reachConsent, requestOf } from '../support/flow.ts';
import { exchange, expectToken, expectTokenError } from '../support/http/tokenRequests.ts';
import { useDatabase } from '../support/postgres/database.ts';
import { intercept } from '../support/postgres/intercept.ts';
import { askAndCut } from '../support/postgres/locks.ts';
import { useServer } from '../support/server.ts';
import { isLive } from '../support/state.ts';

const database = await useDatabase();
const { pool } = database;
/** The statement whose next result is lost, after its commit. */
let lost: string | undefined;
const losing = intercept(pool, async ({ name }, run) => {
  const result = await run();
  if (name === undefined || name !== lost) return result;
  lost = undefined;
  throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
});
const server = await useServer({ database: { ...database, pool: losing } });

describe('a database connection that breaks before the response', () => {
  it('lets an approval and a code exchange succeed, once each', async () => {
    const { client, user, agent } = await actorsAt(server);
    const consent = await reachConsent(agent, requestOf(client), user);
    const allow = () => decide(agent, consent, 'allow');
    const code = codeOf(await askAndCut(pool, 'lock table grants in share mode', allow));
    const lock = `select from grants where client_id = '${client.clientId}' for update`;
    expectToken(await askAndCut(pool, lock, () => exchange(server, client, code)));
    const { rows } = await pool.query(
      `select kind from audit_events where client_id = $1 and grant_id is not null order by at`,
      [client.clientId],
    );
    expect(rows).toEqual([{ kind: 'approved' }, { kind: 'exchanged' }]);
  });

  it('does not fail a committed code exchange: the retry returns the same token', async () => {
    const { client, user, agent } = await actorsAt(server);
    const resource = await server.createResource();
    const code = await obtainCode(agent, requestOf(client), user);
    lost = 'grant-exchange';
    const token = expectToken(await exchange(server, client, code));
    expect([lost, await isLive(server, resource, token)]).toEqual([undefined, true]);
    expectTokenError(await exchange(server, client, code), 'invalid_grant');
    expect(await isLive(server, resource, token)).toBe(false);
  });

  it('lets an introspection and a page succeed', async () => {
    const { client, user, agent } = await actorsAt(server);
    const resource = await server.createResource();
    const code = await obtainCode(agent, requestOf(client), user);
    const token = expectToken(await exchange(server, client, code));
    const answer = await askAndCut(pool, 'lock table resources', () => introspect(server, resource, token));
    expect(answer).toMatchObject({ active: true, client_id: client.clientId });
    const url = linkTo(requestOf(client));
    const page = await askAndCut(pool, 'lock table clients', () => agent.get(url));
    expect([page.status, page.page]).toEqual([200, 'consent']);
  });
});
