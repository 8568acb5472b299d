import { describe, expect, it } from 'vitest';
import { logoOf } from '../../src/config/operatorFiles.ts';
import * as clients from '../../src/operations/clients.ts';
import { revokeAll } from '../../src/operations/grants.ts';
import { perform } from '../../src/operations/operation.ts';
import * as users from '../../src/operations/users.ts';
import { type Digest, sha256 } from '../../src/secrets/digest.ts';
import { approveGrant } from '../../src/store/authorize/approvals.ts';
import { actorsAt } from '../support/account.ts';
import { Agent } from '../support/agent.ts';
import {
  decide,
  introspect,
  obtainCode,
  obtainToken,
  reachConsent,
  requestOf,
  tokenRequestOf,
} from '../support/flow.ts';
import {
  agree,
  changeClient,
  registerResource,
  registerUser,
  removeUser,
  setClientStatus,
  setPasswords,
  setResourceStatus,
  setUserStatus,
} from '../support/operators.ts';
import { svg } from '../support/pictures.ts';
import { approvalOf } from '../support/samples.ts';
import { type TestClient, type TestUser, useServer } from '../support/server.ts';

const server = await useServer();

type Row = Record<string, unknown>;

async function ask(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await server.database.pool.query<Row>(text, values)).rows;
}

/** So many authorizations of as many users for one application, with a token each. */
async function fill(client: TestClient, count: number): Promise<void> {
  await ask(
    `with people as (
       insert into users (login, login_key, name, password_hash)
       select $1 || n, $1 || n, 'Loaded', 'none' from generate_series(1, $3::int) n returning user_id)
     insert into grants (grant_id, user_id, client_id, revision, scope, redirect_uri, code_hash, code_expires_at,
                         token_hash, token_issued_at, confirmed_at)
     select gen_random_uuid(), user_id, $1, 1, 'account-info', $2, sha256('code'), now(), sha256('token'), now(), now()
       from people`,
    [client.clientId, client.redirectUri, count],
  );
}

const REVOKED = `select grant_id, operator, xmin::text as transaction from audit_events
                  where client_id = $1 and kind = 'revoked_by_operator'`;
const olga = () => ({ db: server.database.pool, operator: 'olga', progress() {} });

describe('taking back everything of an application', () => {
  it('writes a row for each, at most 500 in a transaction, and counts exactly', async () => {
    const client = await server.createClient();
    await fill(client, 1201);
    const counts: number[] = [];
    const { clientId } = client;
    expect(await revokeAll({ ...olga(), progress: (count) => counts.push(count) }, { clientId })).toBe(1201);
    expect(counts).toEqual([500, 1000, 1201]);
    const rows = await ask(REVOKED, [clientId]);
    expect(new Set(rows.map((row) => row.grant_id)).size).toBe(1201);
    expect(rows).toHaveLength(1201);
    const batch = (row: Row) => rows.filter(({ transaction }) => transaction === row.transaction).length;
    expect(new Set(rows.map(batch))).toEqual(new Set([500, 201]));
    expect(new Set(rows.map((row) => row.operator))).toEqual(new Set(['olga']));
    expect(await ask('select from grants where client_id = $1 and revoked_at is null', [clientId])).toEqual(
      [],
    );
    expect(await revokeAll(olga(), { clientId })).toBe(0);
  });

  it('can be interrupted and asked again: one row for each in the end', async () => {
    const client = await server.createClient();
    await fill(client, 700);
    const { clientId } = client;
    const progress = () => {
      throw new Error('Ctrl-C');
    };
    await expect(revokeAll({ ...olga(), progress }, { clientId })).rejects.toThrow('Ctrl-C');
    expect(await ask(REVOKED, [clientId])).toHaveLength(500);
    expect(await revokeAll(olga(), { clientId })).toBe(200);
    expect(await ask(REVOKED, [clientId])).toHaveLength(700);
  });

  it('is only what can still act, and of a user only that user’s', async () => {
    const [shop, other] = [await server.createClient(), await server.createClient()];
    const [anna, berta] = [await server.createUser(), await server.createUser()];
    const resource = await server.createResource();
    const agentOf = (user: TestUser) => ({ agent: new Agent(server.baseUrl), user });
    const token = ({ agent, user }: ReturnType<typeof agentOf>, client: TestClient, instance_name = 'one') =>
      obtainToken(agent, client, user, { instance_name });
    const [one, two] = [agentOf(anna), agentOf(berta)];
    const [atShop, atOther, ofBerta] = [
      await token(one, shop),
      await token(one, other),
      await token(two, shop),
    ];
    await obtainCode(one.agent, requestOf(shop, { instance_name: 'expired' }), anna);
    await ask(`update grants set code_expires_at = now() where instance_name = 'expired'`);
    const live = async (...tokens: string[]) =>
      Promise.all(tokens.map(async (each) => (await introspect(server, resource, each)).active));
    const whose = { userId: anna.userId, clientId: shop.clientId };
    expect(await revokeAll(olga(), whose)).toBe(1);
    expect(await live(atShop, atOther, ofBerta)).toEqual([false, true, true]);
    expect(await revokeAll(olga(), { userId: anna.userId })).toBe(1);
    expect(await live(atShop, atOther, ofBerta)).toEqual([false, false, true]);
  });
});

describe('an application that is deleted', () => {
  it('leaves a row for each authorization that could act, and none for the others', async () => {
    const { client, user, agent } = await actorsAt(server);
    await obtainToken(agent, client, user, { instance_name: 'token' });
    await obtainCode(agent, requestOf(client, { instance_name: 'code' }), user);
    await obtainCode(agent, requestOf(client, { instance_name: 'expired' }), user);
    await ask(
      `update grants set code_expires_at = now() where client_id = $1 and instance_name = 'expired'`,
      [client.clientId],
    );
    const caller = { db: server.database.pool, operator: 'olga' };
    const unconfirmed = perform(clients.remove, caller, { clientId: client.clientId });
    await expect(unconfirmed).rejects.toThrow('not confirmed: it would delete');
    const removing = perform(clients.remove, { ...caller, confirm: agree }, { clientId: client.clientId });
    expect(await removing).toMatchObject({ revoked: 2 });
    const trail = await ask(
      `select kind, instance_name, operator from audit_events
        where client_id = $1 and operator = 'olga' order by kind, instance_name`,
      [client.clientId],
    );
    expect(trail.map(({ kind, instance_name }) => [kind, instance_name])).toEqual([
      ['client_blocked', null],
      ['client_deleted', null],
      ['revoked_by_operator', 'code'],
      ['revoked_by_operator', 'token'],
    ]);
    expect(await ask('select from clients where client_id = $1', [client.clientId])).toEqual([]);
    await expect(perform(clients.remove, caller, { clientId: client.clientId })).rejects.toThrow(
      'there is no client',
    );
  });

  it.each([
    ['application', 'delete from clients where client_id = $1', 0],
    ['user', 'delete from users where user_id = $1::uuid', 1],
    ['authorization', 'delete from grants where user_id = $1::uuid', 1],
  ])('leaves them also when an %s is deleted by hand', async (_what, statement, index) => {
    const { client, user, agent } = await actorsAt(server);
    for (const instance_name of ['one', 'two']) await obtainToken(agent, client, user, { instance_name });
    await ask(statement, [[client.clientId, user.userId][index]]);
    const rows = await ask(`${REVOKED} and user_id = $2`, [client.clientId, user.userId]);
    expect(rows.map(({ operator }) => operator)).toEqual([null, null]);
  });
});

describe('a user who is erased', () => {
  it('is nowhere any more but in the trail, by id', async () => {
    const client = await server.createClient();
    const user = await server.createUser({ login: 'zinaida.unmistakable', name: 'Zinaida Unmistakable' });
    const agent = new Agent(server.baseUrl);
    const token = await obtainToken(agent, client, user);
    expect(await removeUser(server.database.pool, 'ZINAIDA.unmistakable', 'olga')).toMatchObject({
      userId: user.userId,
      revoked: 1,
    });
    expect((await agent.get('/account')).page).toBe('sign-in');
    expect(await introspect(server, await server.createResource(), token)).toEqual({ active: false });
    const tables = await ask(
      `select oid::regclass::text as name from pg_class
        where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`,
    );
    for (const { name } of tables) {
      const found = await ask(`select t::text from ${name} t where t::text ~* 'unmistakable'`);
      expect({ name, found }).toEqual({ name, found: [] });
    }
    const trail = await ask('select kind from audit_events where user_id = $1 order by at', [user.userId]);
    expect(trail.map(({ kind }) => kind)).toEqual([
      'user_created',
      'signed_in',
      'approved',
      'exchanged',
      'user_blocked',
      'revoked_by_operator',
      'user_deleted',
    ]);
  });
});

describe('an application that is changed', () => {
  const NEXT = 'http://127.0.0.1:9/callback?next=1';
  const CHANGES = {
    name: { name: 'Another Shop' },
    'redirect URI': { redirectUri: NEXT },
    rights: { allowedRights: ['account-info'] },
    ceiling: { most: { days: 1, sum: '5' } },
    site: { site: 'https://shop.example/' },
    logo: { logo: logoOf(svg()) },
    review: { reviewed: true },
    'user limits': { userLimits: true },
  };
  /** A request that is right before the change and after it. */
  const request = (client: TestClient) => requestOf(client, { scope: 'account-info', redirect_uri: NEXT });

  it.each(Object.entries(CHANGES))('has pages from before decide nothing: its %s', async (_what, change) => {
    const { client, user, agent } = await actorsAt(server);
    const old = await reachConsent(agent, request(client), user);
    await changeClient(server.database.pool, client.clientId, change, 'olga');
    for (const decision of ['allow', 'reject'] as const) {
      const answer = await decide(agent, old, decision);
      expect([answer.status, answer.location]).toEqual([303, expect.stringContaining('/oauth/authorize?')]);
    }
    expect(await ask('select from grants where client_id = $1', [client.clientId])).toEqual([]);
    const again = await reachConsent(agent, request(client), user);
    expect((await decide(agent, again, 'allow')).status).toBe(302);
  });

  it.each(Object.entries(CHANGES))(
    'has codes under way refused, and tokens go on: its %s',
    async (_what, change) => {
      const { client, user, agent } = await actorsAt(server);
      const resource = await server.createResource();
      const token = await obtainToken(agent, client, user, { instance_name: 'before' });
      const code = await obtainCode(agent, request(client), user);
      await changeClient(server.database.pool, client.clientId, change, 'olga');
      const fields = tokenRequestOf(client, code, { redirect_uri: NEXT });
      const answer = await agent.post('/oauth/token', fields);
      expect([answer.status, JSON.parse(answer.body)]).toEqual([
        400,
        expect.objectContaining({ error: 'invalid_grant' }),
      ]);
      expect(server.logLines.at(-1)).toContain('the client was changed after the code was given');
      expect(await introspect(server, resource, token)).toMatchObject({ active: true });
      const fresh = await obtainCode(agent, request(client), user);
      const exchanged = await agent.post('/oauth/token', { ...fields, code: fresh });
      expect(exchanged.status).toBe(200);
    },
  );

  it('has an approval that is under way at this very moment write nothing', async () => {
    const [client, user] = [await server.createClient(), await server.createUser()];
    await reachConsent(new Agent(server.baseUrl), requestOf(client), user);
    const { pool } = server.database;
    const { rows } = await pool.query<{ hash: Digest }>(
      'select session_hash as hash from sessions where user_id = $1',
      [user.userId],
    );
    const approval = { ...approvalOf(client, user), sessionHash: rows[0]?.hash ?? sha256('') };
    await changeClient(pool, client.clientId, { name: 'Another Shop' }, 'olga');
    expect(await approveGrant(pool, approval)).toBe('stale');
    expect(await approveGrant(pool, { ...approval, clientRevision: 2 })).toBe('written');
  });

  it('is asked no more than its ceiling, and everything again without one', async () => {
    const { client, user, agent } = await actorsAt(server);
    const spending = requestOf(client, { scope: 'payment-shop.limit(30,5000.01)' });
    const change = (most: { days: number; sum: string } | null) =>
      changeClient(server.database.pool, client.clientId, { most }, 'olga');
    await change({ days: 30, sum: '5000' });
    const refused = await agent.post('/oauth/authorize', spending);
    expect([refused.status, refused.page]).toEqual([400, 'error']);
    expect(refused.text).toContain('invalid_scope');
    await change({ days: 30, sum: '5000.01' });
    expect((await reachConsent(agent, spending, user)).page).toBe('consent');
    await change(null);
    const much = requestOf(client, { scope: 'payment-shop.limit(9999,999999999999)' });
    expect((await reachConsent(agent, much, user)).page).toBe('consent');
  });

  it('tells the trail from what to what, and nothing when nothing changes', async () => {
    const { clientId } = await server.createClient();
    const pool = server.database.pool;
    const rights = ['account-info', 'payment-shop'];
    const change = { name: 'New', most: { days: 7, sum: '9.50' }, allowedRights: rights };
    await changeClient(pool, clientId, change, 'olga');
    const same = {
      name: 'New',
      most: { days: 7, sum: '9.5' },
      allowedRights: [...rights.toReversed(), ...rights],
    };
    expect(await changeClient(pool, clientId, same, 'olga')).toMatchObject({
      changed: {},
      revision: 2,
      most: change.most,
      allowedRights: rights,
    });
    expect(
      await ask(
        `select operator, detail from audit_events where client_id = $1 and kind = 'client_updated'`,
        [clientId],
      ),
    ).toEqual([
      {
        operator: 'olga',
        detail: {
          name: { from: 'Test Shop', to: 'New' },
          most: { from: null, to: { days: 7, sum: '9.50' } },
          allowed_rights: { from: null, to: rights },
        },
      },
    ]);
  });

  it('tells it what users see, the logo by its name', async () => {
    const pool = server.database.pool;
    const logo = logoOf(svg());
    const { clientId } = await server.createClient({ site: 'https://shop.example', logo });
    await changeClient(pool, clientId, { logo, reviewed: false }, 'olga'); // nothing new
    await changeClient(pool, clientId, { site: null, logo: null, reviewed: true }, 'olga');
    const trail = await ask(`select kind, detail from audit_events where client_id = $1 order by at`, [
      clientId,
    ]);
    expect(trail.filter(({ kind }) => /client_(created|updated)/.test(String(kind)))).toMatchObject([
      { detail: { site: 'https://shop.example', logo: logo.file, reviewed: false } },
      {
        detail: {
          site: { from: 'https://shop.example', to: null },
          logo: { from: logo.file, to: null },
          reviewed: { from: false, to: true },
        },
      },
    ]);
    expect(await ask('select from client_logos where client_id = $1', [clientId])).toEqual([]);
    expect(await ask('select revision from clients where client_id = $1', [clientId])).toEqual([
      { revision: 2 },
    ]);
  });

  it('is refused a name, a redirect URI or a right that could not be registered', async () => {
    const { clientId } = await server.createClient();
    for (const change of [
      { name: ' ' },
      { redirectUri: 'javascript:alert(1)' },
      { allowedRights: ['all'] },
      { site: 'http://shop.example' },
      { site: 'https://shop.example@evil.example/' },
    ]) {
      await expect(changeClient(server.database.pool, clientId, change, 'olga')).rejects.toThrow();
    }
  });
});

describe('what the trail says of operators’ acts', () => {
  it('is told of a block and an unblock that change something, once', async () => {
    const pool = server.database.pool;
    const [client, user] = [await server.createClient(), await server.createUser()];
    const { clientId } = client;
    const { resourceId } = await registerResource(pool, 'API', 'olga');
    const [ofClient, ofUser, ofResource]: unknown[][] = [[], [], []];
    for (const status of ['active', 'blocked', 'blocked', 'active', 'active'] as const) {
      ofClient?.push((await setClientStatus(pool, clientId, status, 'olga'))?.changed);
      ofResource?.push((await setResourceStatus(pool, resourceId, status, 'olga'))?.changed);
      ofUser?.push((await setUserStatus(pool, user.login, status, 'olga'))?.changed);
    }
    const changed = [false, true, false, true, false];
    expect([ofClient, ofUser, ofResource]).toEqual([changed, changed, changed]);
    const noted = await ask(
      `select kind from audit_events
        where (client_id = $1 or user_id = $2 or resource_id = $3) and kind like '%blocked' order by at`,
      [clientId, user.userId, resourceId],
    );
    expect(noted.map(({ kind }) => kind)).toEqual(
      ['blocked', 'unblocked'].flatMap((what) =>
        ['client', 'resource', 'user'].map((who) => `${who}_${what}`),
      ),
    );
    expect(await setClientStatus(pool, 'x', 'blocked', 'olga')).toBeNull();
    expect(await setUserStatus(pool, 'nobody', 'blocked', 'olga')).toBeNull();
  });

  it('holds no secret, login or name of a person', async () => {
    const pool = server.database.pool;
    const user = { login: 'yulia.distinctive', name: 'Yulia Distinctive', password: 'one password' };
    await registerUser(pool, { ...user, paymentPassword: 'another one' }, 'olga');
    await setPasswords(pool, user.login, { password: 'a third one', paymentPassword: null }, 'olga');
    await setUserStatus(pool, user.login, 'blocked', 'olga');
    const client = await server.createClient();
    const caller = { db: pool, operator: 'olga' };
    const { clientId } = client;
    const { secretId = '', clientSecret } = await perform(clients.addSecret, caller, { clientId });
    await perform(clients.retireSecret, caller, { clientId, secretId });
    const trail = await ask(`select a::text as row from audit_events a where operator is not null`);
    const text = trail.map(({ row }) => row).join('\n');
    for (const kind of ['user_created', 'user_password_set', 'user_blocked', 'client_secret_retired'])
      expect(text).toContain(kind);
    for (const told of ['distinctive', 'one password', 'another one', String(clientSecret)]) {
      expect(text.toLowerCase()).not.toContain(told);
    }
    const ofUser = `select kind, operator, detail from audit_events join users using (user_id) where login = $1 order by at`;
    expect(await ask(ofUser, [user.login])).toEqual([
      { kind: 'user_created', operator: 'olga', detail: { payment_password: true } },
      { kind: 'user_password_set', operator: 'olga', detail: { payment_password: false } },
      { kind: 'user_blocked', operator: 'olga', detail: null },
    ]);
  });
});

describe('a password that is easy to guess', () => {
  const create = (login: string, password: string, paymentPassword: string | null, allowWeak = false) =>
    registerUser(server.database.pool, { login, name: 'A', password, paymentPassword, allowWeak }, 'olga');

  it.each([
    ['seven.', '1234567', null],
    ['payment.', 'long enough', '1234567'],
    ['astral.', '🔑🔑🔑🔑', null], // eight units of UTF-16, four characters
    ['marks.', 'e\u0301e\u0301e\u0301e\u0301', null], // eight as typed, four letters
  ])('is refused: %s', async (login, password, paymentPassword) => {
    await expect(create(login, password, paymentPassword)).rejects.toThrow(
      /fewer than 8 characters.*--allow-weak/,
    );
  });

  it('is taken when that is said, and eight characters are enough', async () => {
    await create('weak.', '1', '2', true);
    await create('eight.', 'vjqkzxwp', 'пароль-1');
    await create('common.', 'password123', 'password123', true);
  });

  it.each([
    ['password123', null, /^the password is among those that are tried first, .+--allow-weak$/],
    ['not so easy', 'qwertyuiop', /^the payment password is among those/],
    ['Lena.Guessed-2026', null, /^the password is among .+ or a name of the user or the service/],
    ['the wallet', null, /^the password is among .+ or a name of the user or the service/],
    ['not so easy', 'not so easy', /^password and payment password are the same/],
  ])('is refused as on the user’s own page: %s, %s', async (password, paymentPassword, problem) => {
    const pool = server.database.pool;
    const lena = { login: 'lena.guessed', name: 'Lena' };
    const serviceNames = () => ['The Wallet'];
    const caller = { db: pool, operator: 'olga', serviceNames };
    const refused = { name: 'RegistrationError', message: expect.stringMatching(problem) };
    const given = { password, paymentPassword };
    await expect(perform(users.create, caller, { ...lena, ...given })).rejects.toMatchObject(refused);
    const { login } = await server.createUser({ name: lena.login });
    const setting = perform(users.setPassword, caller, { login, ...given });
    await expect(setting).rejects.toMatchObject(refused);
    const weak = await setPasswords(pool, login, { ...given, allowWeak: true }, 'olga');
    expect(weak).toMatchObject({ done: 'password_set' });
  });

  it('is one that the user has for payments already', async () => {
    const { login, paymentPassword } = await server.createUser();
    const same = { password: String(paymentPassword), paymentPassword: null };
    const setting = setPasswords(server.database.pool, login, same, 'olga');
    await expect(setting).rejects.toThrow('password and payment password are the same');
  });
});
