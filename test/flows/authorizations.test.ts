import { describe, expect, it } from 'vitest';
import { type Cursor, findAuthorizationsPage } from '../../src/flows/authorizations.ts';
import { currentSession, type Session } from '../../src/flows/session.ts';
import { Agent } from '../support/agent.ts';
import { obtainToken, signIn } from '../support/flow.ts';
import { type TestUser, useServer } from '../support/server.ts';
import { setClientStatus } from '../support/state.ts';

const server = await useServer();
const { pool } = server.database;
const FIRST: Cursor = { direction: 'older', grantId: null };

async function sessionOf(agent: Agent): Promise<Session> {
  const session = await currentSession(server.context, agent.cookies.get('assent_session') ?? '');
  if (session === null) throw new Error('nobody is signed in');
  return session;
}

async function signedIn(): Promise<{ user: TestUser; agent: Agent; session: Session }> {
  const [user, agent] = [await server.createUser(), new Agent(server.baseUrl)];
  await signIn(agent, user.login, user.password);
  return { user, agent, session: await sessionOf(agent) };
}

describe('the state of an authorization', () => {
  it('is that its application is blocked, and that it expires within 30 days', async () => {
    const { user, agent, session } = await signedIn();
    const [soon, later, blocked] = [
      await server.createClient(),
      await server.createClient(),
      await server.createClient(),
    ];
    for (const client of [soon, later, blocked]) await obtainToken(agent, client, user);
    const issued = (clientId: string, days: number) =>
      pool.query(
        `update grants set token_issued_at = now() - interval '36 months' + make_interval(days => $2) where client_id = $1`,
        [clientId, days],
      );
    await issued(soon.clientId, 29);
    await issued(later.clientId, 32);
    await setClientStatus(server, blocked, 'blocked');
    const { authorizations } = await findAuthorizationsPage(server.context, session, FIRST);
    const states = authorizations.map(({ clientId, isBlocked, expiresSoon }) => [
      clientId,
      isBlocked,
      expiresSoon,
    ]);
    expect(states).toEqual([
      [blocked.clientId, true, false],
      [later.clientId, false, false],
      [soon.clientId, false, true],
    ]);
  });
});

describe('a page of authorizations', () => {
  it('has them by application, in the order of the newest of each, with how many there are on all pages', async () => {
    const { user, session } = await signedIn();
    const [shop, bank, single] = [
      await server.createClient({ name: 'Shop' }),
      await server.createClient({ name: 'Bank' }),
      await server.createClient({ name: 'Single' }),
    ];
    // Newest first: shop 1, bank 2, shop 3, bank 4, …, bank 24, single 25.
    await pool.query(
      `insert into grants (grant_id, user_id, client_id, instance_name, revision, scope, redirect_uri, code_hash,
                           code_expires_at, token_hash, token_issued_at, confirmed_at)
       select gen_random_uuid(), $1, case when n = 25 then $4 when n % 2 = 1 then $2 else $3 end, 'instance ' || n, 1,
              'account-info', 'http://127.0.0.1:9/', sha256('code'), now(), sha256('token'), now(),
              now() - make_interval(mins => n)
         from generate_series(1, 25) n`,
      [user.userId, shop.clientId, bank.clientId, single.clientId],
    );
    const shape = async (cursor: Cursor | null) => {
      const page = await findAuthorizationsPage(server.context, session, cursor ?? FIRST);
      expect(page.applications.flatMap(({ authorizations }) => authorizations).length).toBe(
        page.authorizations.length,
      );
      return {
        older: page.older,
        groups: page.applications.map((one) => [
          one.clientName,
          one.live,
          one.orMore,
          one.authorizations.map(({ instanceName }) => Number(instanceName?.slice('instance '.length))),
        ]),
      };
    };
    const first = await shape(null);
    expect(first.groups).toEqual([
      ['Shop', 12, false, [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]],
      ['Bank', 12, false, [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]],
    ]);
    expect(await shape(first.older)).toEqual({
      older: null,
      groups: [
        ['Shop', 12, false, [21, 23]],
        ['Bank', 12, false, [22, 24]],
        ['Single', 1, false, [25]],
      ],
    });
  });

  it('has those that can spend first, by what is on it, and the newest of each kind first', async () => {
    const { user, session } = await signedIn();
    const scopes = [
      'account-info',
      'payment-p2p',
      'operation-history',
      'account-info payment-shop',
      'payment-shop',
    ];
    const clients = await Promise.all(scopes.map((_, n) => server.createClient({ name: `Client ${n}` })));
    for (const [n, scope] of scopes.entries())
      await pool.query(
        `insert into grants (grant_id, user_id, client_id, revision, scope, redirect_uri, code_hash, code_expires_at,
                             token_hash, token_issued_at, confirmed_at)
         values (gen_random_uuid(), $1, $2, 1, $3, 'x', sha256('code'), now(), sha256('token'), now(),
                 now() - make_interval(mins => $4))`,
        [user.userId, clients[n]?.clientId, scope, n],
      );
    const names = async () => {
      const { authorizations, applications } = await findAuthorizationsPage(server.context, session, FIRST);
      expect(authorizations.map(({ clientName }) => clientName)).toEqual(
        clients.map((_, n) => `Client ${n}`),
      );
      return applications.map(({ clientName, canSpend }) => [clientName.slice(-1), canSpend]);
    };
    expect(await names()).toEqual([
      ['1', true],
      ['3', true],
      ['4', true],
      ['0', false],
      ['2', false],
    ]);
    for (const n of [1, 4]) await setClientStatus(server, clients[n] as (typeof clients)[0], 'blocked');
    expect(await names()).toEqual([
      ['3', true],
      ['0', false],
      ['1', false],
      ['2', false],
      ['4', false],
    ]);
  });
});
