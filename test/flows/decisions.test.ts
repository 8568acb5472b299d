import { beforeEach, describe, expect, it } from 'vitest';
import { fieldsFor, follow, isSignedIn, press, signedIn } from '../support/account.ts';
import { codeOf, confirm, decide, linkTo, obtainCode, reachConsent, requestOf } from '../support/flow.ts';
import { Agent, type Answer } from '../support/http/agent.ts';
import { exchange, expectToken } from '../support/http/tokenRequests.ts';
import { revokeGrantsOf } from '../support/operators.ts';
import { rowsOf } from '../support/postgres/rows.ts';
import { type TestClient, type TestUser, useServer } from '../support/server.ts';

const server = await useServer({ maxInstances: 10_000 });
const { pool } = server.database;

let client: TestClient;
let user: TestUser;
let agent: Agent;

beforeEach(async () => {
  [client, user, agent] = [await server.createClient(), await server.createUser(), new Agent(server.baseUrl)];
});

const consentFor = (state: string) =>
  reachConsent(agent, requestOf(client, { state, instance_name: state }), user);

async function count(what: string): Promise<number> {
  return (await pool.query(what, [user.userId])).rowCount ?? -1;
}

async function threeTabs(): Promise<Answer[]> {
  const url = linkTo(requestOf(client, { state: 'three tabs', instance_name: 'three tabs' }));
  return [await consentFor('three tabs'), await agent.get(url), await agent.get(url)];
}

const rejections = () => count(`select from audit_events where kind = 'rejected' and user_id = $1`);

describe('repeated rejections', () => {
  it('are answered alike and recorded once per form, even if forms alternate or are concurrent', async () => {
    const [one, other] = [await consentFor('one'), await consentFor('other')];
    const reject = (n: number) => decide(agent, n % 2 === 0 ? one : other, 'reject');
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => reject(n)));
    for (let turn = 0; turn < 10; turn += 1) answers.push(await reject(turn));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([302]));
    expect(new Set(answers.map(({ location }) => location)).size).toBe(2);
    expect(await rejections()).toBe(2);
  });

  it('are recorded once per page, even for pages of one request; Allow on all gives one code', async () => {
    const pages = await threeTabs();
    for (const page of [...pages, ...pages])
      expect((await decide(agent, page, 'reject')).location).toContain('error=access_denied');
    expect(await rejections()).toBe(3);
    const others = await threeTabs();
    const codes = await Promise.all(others.map(async (page) => codeOf(await decide(agent, page, 'allow'))));
    expect(new Set(codes).size).toBe(1);
    expectToken(await exchange(server, client, codes[0] ?? ''));
    expect(await rejections()).toBe(3);
  });

  it('are remembered while the page or its decision is valid, then removed by later rejections [decisions-1]', async () => {
    await pool.query('delete from rejections');
    for (const state of ['a', 'b', 'c', 'd']) await decide(agent, await consentFor(state), 'reject');
    const { rows } = await pool.query(
      `select expires_at - clock_timestamp() between interval '15 minutes' and interval '30 minutes' as good from rejections`,
    );
    expect(rows).toEqual(Array(4).fill({ good: true }));
    await pool.query(`update rejections set expires_at = clock_timestamp()`);
    for (const state of ['e', 'f']) await decide(agent, await consentFor(state), 'reject');
    expect((await pool.query('select from rejections')).rowCount).toBe(2);
  });
});

describe('the decisions of one user', () => {
  /** Sets the user's count of decisions, which decays only after an hour: this machine may be slow. */
  async function decided(times: number): Promise<void> {
    await pool.query(
      `update users set decisions = $2, decided_at = clock_timestamp() + interval '1 hour' where user_id = $1`,
      [user.userId, times],
    );
  }

  it('share one limit over all sessions; above it, nothing is written until the count decays [decisions-2]', async () => {
    await decide(agent, await consentFor('first'), 'allow');
    await decide(agent, await consentFor('second'), 'reject');
    expect(await count('select from users where user_id = $1 and round(decisions) = 2')).toBe(1);
    await decided(1_000);
    agent = await signedIn(server, user);
    const form = await consentFor('beyond');
    const before = await rowsOf(server.database);
    for (const decision of ['allow', 'reject'] as const) {
      const page = await follow(agent, await decide(agent, form, decision));
      expect([page.status, page.page, page.headers.get('retry-after')]).toEqual([429, 'consent', '60']);
      expect(page.text).toContain('nothing was allowed, rejected or disconnected');
    }
    expect(await rowsOf(server.database)).toBe(before);
    await count(`update users set decided_at = clock_timestamp() - interval '1 minute' where user_id = $1`);
    expect((await decide(agent, form, 'allow')).status).toBe(302);
    await decided(999);
    expect((await decide(agent, await consentFor('third'), 'allow')).status).toBe(302);
  });

  it('include disconnecting a whole application, which is refused beyond the limit', async () => {
    for (const state of ['one', 'two']) await decide(agent, await consentFor(state), 'allow');
    const fields = fieldsFor(await agent.get('/oauth/account'), '/oauth/account/disconnect-all');
    await decided(1_001);
    const refused = await follow(agent, await agent.post('/oauth/account/disconnect-all', fields));
    expect([refused.status, refused.page]).toEqual([429, 'account']);
    expect(refused.text).toContain('nothing was allowed, rejected or disconnected');
    const live = 'select from grants where user_id = $1 and revoked_at is null';
    expect(await count(live)).toBe(2);
    await decided(0);
    expect((await agent.post('/oauth/account/disconnect-all', fields)).status).toBe(303);
    expect(await count(live)).toBe(0);
  });
});

it('an application is shown as new until the user first allows it, even if disconnected later [decisions-3]', async () => {
  const [other, stranger] = [await server.createClient(), await signedIn(server, await server.createUser())];
  const isNew = async (fields = {}, at = client, by = agent) =>
    (await by.get(linkTo(requestOf(at, fields)))).text.includes('You have not connected it before');
  await decide(agent, await consentFor('phone'), 'reject');
  for (const fields of [{}, { scope: 'payment-shop' }]) expect(await isNew(fields)).toBe(true);
  await decide(agent, await consentFor('phone'), 'allow');
  for (const fields of [{}, { instance_name: 'phone' }, { instance_name: 'desk' }, { scope: 'payment-shop' }])
    expect(await isNew(fields)).toBe(false);
  await press(agent, await agent.get('/oauth/account'), '/oauth/account/disconnect');
  expect([await isNew(), await isNew({}, other), await isNew({}, client, stranger)]).toEqual([
    false,
    true,
    true,
  ]);
});

/** Everything that raises the revision of a grant, which makes earlier pages out of date. */
const CHANGES: Record<string, (code: string) => Promise<unknown>> = {
  'another approval': () => obtainCode(agent, requestOf(client, { state: 'newer' }), user),
  'a disconnection by the user': async () =>
    press(agent, await agent.get('/oauth/account'), '/oauth/account/disconnect'),
  'a revocation by the operator': () =>
    revokeGrantsOf({ db: pool, operator: { name: 'tests' } }, { clientId: client.clientId }),
  'a replay that revoked the token': (code) => exchange(server, client, code),
};

it.each(Object.entries(CHANGES))(
  'a consent form or confirmation has no effect, and the request is shown again, if older than %s',
  async (_what, change) => {
    const code = await obtainCode(agent, requestOf(client), user);
    expectToken(await exchange(server, client, code));
    const askedFor = (scope: string) => reachConsent(agent, requestOf(client, { state: 'old', scope }), user);
    const old = await askedFor('account-info');
    const pressed = await agent.submit(await askedFor('payment-shop'), 'decision', { decision: 'allow' });
    const page = await follow(agent, pressed);
    expect(page.page).toBe('confirm');
    await change(code);
    const before = await rowsOf(server.database);
    for (const { status, location } of [
      await decide(agent, old, 'allow'),
      await confirm(agent, page, user.paymentPassword),
      await agent.get(pressed.location ?? ''),
    ])
      expect([status, location]).toEqual([303, expect.stringMatching(/authorize\?.*state=old/)]);
    expect(await rowsOf(server.database)).toBe(before);
    const fresh = await follow(agent, await decide(agent, old, 'allow'));
    expect((await decide(agent, fresh, 'allow')).status).toBe(302);
  },
);

it('a user has a limited number of sessions: another sign-in ends the oldest [decisions-4]', async () => {
  const first = await signedIn(server, user);
  await pool.query(
    `insert into sessions (session_hash, user_id)
     select sha256(($1 || n)::bytea), $1::uuid from generate_series(1, 99) n`,
    [user.userId],
  );
  expect(await isSignedIn(first)).toBe(true);
  const last = await signedIn(server, user);
  expect([await isSignedIn(first), await isSignedIn(last)]).toEqual([false, true]);
  expect(await count('select from sessions where user_id = $1')).toBe(100);
});
