import { describe, expect, it } from 'vitest';
import { parseLogo } from '../../src/config/operatorFiles.ts';
import * as clients from '../../src/operations/clients.ts';
import { perform } from '../../src/operations/operation.ts';
import * as users from '../../src/operations/users.ts';
import { approveGrant } from '../../src/store/authorize/approvals.ts';
import { actorsAt, insertGrants, sessionOf } from '../support/account.ts';
import { decide, obtainCode, obtainToken, reachConsent, requestOf } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { approvalOf } from '../support/http/samples.ts';
import { exchange, expectToken, expectTokenError } from '../support/http/tokenRequests.ts';
import { newSecret } from '../support/ledger.ts';
import { agree, changeClient, removeUser, revokeGrantsOf, setPasswords } from '../support/operators.ts';
import { expectErrorPage } from '../support/pages.ts';
import { svg } from '../support/pictures.ts';
import { rowsOf } from '../support/postgres/rows.ts';
import { type TestClient, useServer } from '../support/server.ts';
import { isLive } from '../support/state.ts';

const server = await useServer();
const { pool } = server.database;

const ask = async (text: string, values: unknown[] = []) => (await pool.query(text, values)).rows;

const OLGA = { db: pool, operator: { name: 'olga' }, progress() {} };

describe('revoking all authorizations of an application', () => {
  it('records each authorization, a limited number in a transaction, even if interrupted and repeated', async () => {
    const { client, user } = await actorsAt(server);
    const { clientId } = client;
    await insertGrants(server, { client, user, count: 1_201 });
    const counts: number[] = [];
    const progress = (count: number) => {
      if (counts.push(count) === 1) throw new Error('Ctrl-C');
    };
    await expect(revokeGrantsOf({ ...OLGA, progress }, { clientId })).rejects.toThrow('Ctrl-C');
    expect(await revokeGrantsOf({ ...OLGA, progress }, { clientId })).toBe(701);
    expect(counts).toEqual([500, 500, 701]);
    const revoked = `from audit_events where client_id = $1 and kind = 'revoked_by_operator' and operator = 'olga'`;
    const perTransaction = `select count(*)::int ${revoked} group by xmin::text order by 1`;
    expect((await ask(perTransaction, [clientId])).map(({ count }) => count)).toEqual([201, 500, 500]);
    expect(await ask(`select distinct grant_id ${revoked}`, [clientId])).toHaveLength(1_201);
    expect(await revokeGrantsOf(OLGA, { clientId })).toBe(0);
  });

  it('revokes only live authorizations, and only those of the given user', async () => {
    const [shop, other] = [await server.createClient(), await server.createClient()];
    const [anna, berta] = [await server.createUser(), await server.createUser()];
    const resource = await server.createResource();
    const agent = new Agent(server.baseUrl);
    const tokens = [
      await obtainToken(agent, shop, anna),
      await obtainToken(agent, other, anna),
      await obtainToken(new Agent(server.baseUrl), shop, berta),
    ];
    await insertGrants(server, { client: shop, user: anna, expired: true });
    const live = () => Promise.all(tokens.map((token) => isLive(server, resource, token)));
    expect(await revokeGrantsOf(OLGA, { login: anna.userId, clientId: shop.clientId })).toBe(1);
    expect(await live()).toEqual([false, true, true]);
    expect(await revokeGrantsOf(OLGA, { login: anna.userId })).toBe(1);
    expect(await live()).toEqual([false, false, true]);
  });
});

describe('deleting an application', () => {
  it('records the revocation of each live authorization, and of no expired one', async () => {
    const { client, user, agent } = await actorsAt(server);
    const { clientId } = client;
    await obtainToken(agent, client, user, { instance_name: 'token' });
    await obtainCode(agent, requestOf(client, { instance_name: 'code' }), user);
    await insertGrants(server, { client, user, expired: true });
    const removing = perform(clients.remove, { ...OLGA, confirm: agree }, { clientId });
    expect(await removing).toMatchObject({ revoked: 2 });
    const trail = `select instance_name as instance from audit_events
                    where client_id = $1 and operator = 'olga' and kind = 'revoked_by_operator' order by 1`;
    expect(await ask(trail, [clientId])).toEqual([{ instance: 'code' }, { instance: 'token' }]);
    expect(await ask('select from clients where client_id = $1', [clientId])).toEqual([]);
  });

  it.each([
    ['application', 'delete from clients where client_id = $1', 0],
    ['user', 'delete from users where user_id = $1::uuid', 1],
    ['authorization', 'delete from grants where user_id = $1::uuid', 1],
  ])('records a manual SQL delete of the %s [flows-operators-1]', async (_what, statement, index) => {
    const { client, user, agent } = await actorsAt(server);
    for (const instance_name of ['one', 'two']) await obtainToken(agent, client, user, { instance_name });
    await ask(statement, [[client.clientId, user.userId][index]]);
    const revoked = `select operator from audit_events where kind = 'revoked_by_operator' and user_id = $1`;
    expect(await ask(revoked, [user.userId])).toEqual([{ operator: null }, { operator: null }]);
  });
});

it('a deleted user remains only in the audit trail, by id, without login, name or password', async () => {
  const [login, password] = ['zinaida.unmistakable', `unmistakable, too: ${newSecret()}`];
  const user = await server.createUser({ login, name: 'Zinaida Unmistakable' });
  await setPasswords(pool, login, { password, paymentPassword: null, allowWeak: true }, 'olga');
  const agent = new Agent(server.baseUrl);
  const token = await obtainToken(agent, await server.createClient(), { ...user, password });
  const removed = await removeUser(pool, 'ZINAIDA.unmistakable', 'olga');
  expect(removed).toMatchObject({ userId: user.userId, revoked: 1 });
  expect((await agent.get('/oauth/account')).page).toBe('sign-in');
  expect(await isLive(server, await server.createResource(), token)).toBe(false);
  const tables = await ask(
    `select oid::regclass::text as name from pg_class
      where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`,
  );
  for (const { name } of tables) {
    const found = await ask(`select t::text from ${name} t where t::text ~* 'unmistakable'`);
    expect({ name, found }).toEqual({ name, found: [] });
  }
  const trail = 'select kind, operator, detail from audit_events where user_id = $1 order by at';
  const events = await ask(trail, [user.userId]);
  expect(events.slice(0, 2)).toMatchObject([
    { kind: 'user_created', operator: 'tests', detail: { payment_password: true } },
    { kind: 'user_password_set', operator: 'olga', detail: { payment_password: false } },
  ]);
  expect(events.slice(-3).map(({ kind, operator }) => [kind, operator])).toEqual([
    ['user_blocked', 'olga'],
    ['revoked_by_operator', 'olga'],
    ['user_deleted', 'olga'],
  ]);
});

describe('a changed application', () => {
  const NEXT = 'http://127.0.0.1:9/callback?next=1';
  const CHANGES = {
    name: { name: 'Another Shop' },
    'redirect URI': { redirectUri: NEXT },
    rights: { allowedRights: ['account-info'] },
    'payment limit': { most: { days: 1, sum: '5' } },
    website: { site: 'https://shop.example/' },
    logo: { logo: parseLogo(svg()) },
    'review status': { reviewed: true },
    'user limits': { userLimits: true },
  };
  /** A request that is right before the change and after it. */
  const request = (client: TestClient) => requestOf(client, { scope: 'account-info', redirect_uri: NEXT });

  it.each(Object.entries(CHANGES))(
    'keeps its tokens, but open pages and codes become invalid: new %s [flows-operators-2]',
    async (_what, change) => {
      const { client, user, agent } = await actorsAt(server);
      const token = await obtainToken(agent, client, user, { instance_name: 'before' });
      const code = await obtainCode(agent, request(client), user);
      const old = await reachConsent(agent, request(client), user);
      await changeClient(pool, client.clientId, change, 'olga');
      const before = await rowsOf(server.database);
      for (const decision of ['allow', 'reject'] as const) {
        const answer = await decide(agent, old, decision);
        expect([answer.status, answer.location]).toEqual([303, expect.stringContaining('/oauth/authorize?')]);
      }
      expectTokenError(await exchange(server, client, code, { redirect_uri: NEXT }), 'invalid_grant');
      expect(server.logLines.at(-1)).toContain('the client was changed after the code was issued');
      expect(await rowsOf(server.database)).toBe(before);
      expect(await isLive(server, await server.createResource(), token)).toBe(true);
      const fresh = await obtainCode(agent, request(client), user);
      expectToken(await exchange(server, client, fresh, { redirect_uri: NEXT }));
    },
  );

  it('is not approved by a decision that began before the change', async () => {
    const { client, user, agent } = await actorsAt(server);
    await reachConsent(agent, requestOf(client), user);
    const { sessionHash } = await sessionOf(server, agent);
    const approval = { ...approvalOf(client, user), sessionHash };
    await changeClient(pool, client.clientId, { name: 'Another Shop' }, 'olga');
    expect(await approveGrant(pool, approval)).toBe('stale');
    expect(await approveGrant(pool, { ...approval, clientRevision: 2 })).toBe('written');
  });

  it('is limited to its payment maximum, and unlimited once that is removed [flows-operators-3]', async () => {
    const { client, user, agent } = await actorsAt(server);
    const spending = requestOf(client, { scope: 'payment-shop.limit(30,5000.01)' });
    const change = (most: { days: number; sum: string } | null) =>
      changeClient(pool, client.clientId, { most }, 'olga');
    await change({ days: 30, sum: '5000' });
    expectErrorPage(await agent.post('/oauth/authorize', spending), 'invalid_scope');
    await change({ days: 30, sum: '5000.01' });
    expect((await reachConsent(agent, spending, user)).page).toBe('consent');
    await change(null);
    const much = requestOf(client, { scope: 'payment-shop.limit(9999,999999999999)' });
    expect((await reachConsent(agent, much, user)).page).toBe('consent');
  });

  it('has its old and new settings in the audit trail, the logo by file name; no change, no event', async () => {
    const [logo, rights] = [parseLogo(svg()), ['account-info', 'payment-shop']];
    const { clientId } = await server.createClient({ logo });
    const change = { most: { days: 7, sum: '9.50' }, allowedRights: rights };
    await changeClient(pool, clientId, change, 'olga');
    const same = { most: { days: 7, sum: '9.5' }, allowedRights: [...rights.toReversed(), ...rights], logo };
    const unchanged = { ...change, changed: {}, revision: 2 };
    expect(await changeClient(pool, clientId, same, 'olga')).toMatchObject(unchanged);
    await changeClient(pool, clientId, { logo: null }, 'olga');
    const trail = `select operator, detail from audit_events where client_id = $1 and kind ~ 'client_(created|updated)' order by at`;
    const changed = { most: { from: null, to: change.most }, allowed_rights: { from: null, to: rights } };
    expect(await ask(trail, [clientId])).toEqual([
      { operator: 'tests', detail: expect.objectContaining({ logo: logo.file, reviewed: false }) },
      { operator: 'olga', detail: changed },
      { operator: 'olga', detail: { logo: { from: logo.file, to: null } } },
    ]);
    expect(await ask('select from client_logos where client_id = $1', [clientId])).toEqual([]);
  });
});

describe('a weak password', () => {
  it.each([
    ['1234567', null, /fewer than 8 characters.*`allow_weak`/],
    ['password123', null, /^the password is easy to guess: .+`allow_weak`$/],
    ['not so easy', 'qwertyuiop', /^the payment password is easy to guess/],
    ['Lena.Guessed-2026', null, /^the password is easy to guess: .+ or a name of the user or the service/],
    ['the wallet', null, /^the password is easy to guess: .+ or a name of the user or the service/],
    ['not so easy', 'not so easy', /^password and payment password are the same/],
  ])('is refused without allow_weak: %j, payment password %j', async (password, paymentPassword, problem) => {
    const lena = { login: 'lena.guessed', name: 'Lena' };
    const serviceNames = () => ['The Wallet'];
    const caller = { db: pool, operator: { name: 'olga' }, serviceNames };
    const refused = { reason: 'refused_value', message: expect.stringMatching(problem) };
    const given = { password, paymentPassword };
    await expect(perform(users.create, caller, { ...lena, ...given })).rejects.toMatchObject(refused);
    const { login } = await server.createUser({ name: lena.login });
    const setting = perform(users.setPassword, caller, { login, ...given });
    await expect(setting).rejects.toMatchObject(refused);
    const weak = await setPasswords(pool, login, { ...given, allowWeak: true }, 'olga');
    expect(weak).toMatchObject({ done: 'password_set' });
  });

  it('is refused if it equals the user’s stored payment password', async () => {
    const { login, paymentPassword } = await server.createUser();
    const same = { password: String(paymentPassword), paymentPassword: null };
    const setting = setPasswords(pool, login, same, 'olga');
    await expect(setting).rejects.toThrow('password and payment password are the same');
  });
});
