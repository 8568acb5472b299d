import { beforeEach, describe, expect, it } from 'vitest';
import { fieldsFor } from '../support/account.ts';
import { Agent, type Answer } from '../support/agent.ts';
import { codeOf, decide, reachConsent, requestOf, signIn, tokenRequestOf } from '../support/flow.ts';
import { rowsOf } from '../support/rows.ts';
import { type TestClient, type TestUser, useServer } from '../support/server.ts';

const server = await useServer({ maxInstances: 10_000 });

let client: TestClient;
let user: TestUser;
let agent: Agent;

beforeEach(async () => {
  [client, user, agent] = [await server.createClient(), await server.createUser(), new Agent(server.baseUrl)];
});

const consentFor = (state: string) =>
  reachConsent(agent, requestOf(client, { state, instance_name: state }), user);

async function count(what: string, value: string): Promise<number> {
  return (await server.database.pool.query(what, [value])).rowCount ?? -1;
}
const refusals = () =>
  count(`select from audit_events where kind = 'rejected' and user_id = $1`, user.userId);

describe('the same refused decision', () => {
  it('is answered alike and written once, also when two forms are rejected by turns', async () => {
    const [one, other] = [await consentFor('one'), await consentFor('other')];
    const answers: Answer[] = [];
    for (let turn = 0; turn < 20; turn += 1)
      answers.push(await decide(agent, turn % 2 === 0 ? one : other, 'reject'));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([302]));
    expect(new Set(answers.map(({ location }) => location)).size).toBe(2);
    expect(await refusals()).toBe(2);
  });

  it('is written once when it is sent many times at once', async () => {
    const form = await consentFor('at once');
    const answers = await Promise.all(Array.from({ length: 20 }, () => decide(agent, form, 'reject')));
    expect(new Set(answers.map(({ status, location }) => `${status} ${location}`)).size).toBe(1);
    expect(await refusals()).toBe(1);
  });

  it('is one for each page that was loaded, also of one request at one moment', async () => {
    const first = await consentFor('three tabs');
    const url = `/oauth/authorize?${new URLSearchParams(requestOf(client, { state: 'three tabs', instance_name: 'three tabs' }))}`;
    const pages = [first, ...(await Promise.all([agent.get(url), agent.get(url)]))];
    for (const page of [...pages, ...pages])
      expect((await decide(agent, page, 'reject')).location).toContain('error=access_denied');
    expect(await refusals()).toBe(3);
    const codes = await Promise.all(pages.map(async (page) => codeOf(await decide(agent, page, 'allow'))));
    expect(new Set(codes).size).toBe(1);
  });

  it('may still be allowed, and then says that it was', async () => {
    const form = await consentFor('first no');
    await decide(agent, form, 'reject');
    const allowed = await decide(agent, form, 'allow');
    expect((await agent.post('/oauth/token', tokenRequestOf(client, codeOf(allowed)))).status).toBe(200);
    expect((await decide(agent, form, 'reject')).text).toContain('You already allowed this');
  });

  it('is remembered for as long as its form is good, and swept away by others', async () => {
    const { pool } = server.database;
    await pool.query('delete from rejections');
    for (const state of ['a', 'b', 'c', 'd']) await decide(agent, await consentFor(state), 'reject');
    const { rows } = await pool.query<{ minutes: number }>(
      `select extract(epoch from expires_at - clock_timestamp())::float / 60 as minutes from rejections`,
    );
    expect(rows).toHaveLength(4);
    for (const { minutes } of rows) expect([minutes > 0, minutes <= 15]).toEqual([true, true]);
    await pool.query(`update rejections set expires_at = clock_timestamp()`);
    for (const state of ['e', 'f']) await decide(agent, await consentFor(state), 'reject');
    expect((await pool.query('select from rejections')).rowCount).toBe(2);
  });
});

describe('decisions of one user', () => {
  /** Makes so many count for the user, whatever session took them, and none be forgotten, however slow this machine is. */
  async function decided(times: number): Promise<void> {
    await server.database.pool.query(
      `update users set decisions = $2, decided_at = clock_timestamp() + interval '1 hour' where user_id = $1`,
      [user.userId, times],
    );
  }

  it('are limited: what comes beyond is told to wait and writes nothing, until some are forgotten', async () => {
    const answers: Answer[] = [];
    await consentFor('first');
    await decided(980);
    while (answers.length < 100 && answers.at(-1)?.status !== 429) {
      const form = await consentFor(String(answers.length));
      answers.push(await decide(agent, form, answers.length % 3 === 0 ? 'allow' : 'reject'));
    }
    const taken = answers.filter(({ status }) => status === 302);
    expect(taken.length).toBe(answers.length - 1);
    expect(taken.length).toBeGreaterThanOrEqual(20);
    expect(
      await count('select from audit_events where user_id = $1 and grant_id is not null', user.userId),
    ).toBe(taken.length);

    const allowed = taken.findLast(({ location }) => location?.includes('code='));
    const form = await consentFor('beyond');
    await decided(1_000);
    const before = await rowsOf(server.database);
    for (const decision of ['allow', 'reject'] as const) {
      const answer = await decide(agent, form, decision);
      expect([answer.status, answer.page, answer.headers.get('retry-after')]).toEqual([429, 'notice', '60']);
      expect(answer.text).toContain('nothing was allowed, rejected or disconnected');
      expect(answer.body).toContain('href="/oauth/authorize?');
    }
    expect(await rowsOf(server.database)).toBe(before);
    expect(allowed?.location).toBeTruthy();

    const someTimeLater = `update users set decided_at = clock_timestamp() - interval '1 minute' where user_id = $1`;
    await server.database.pool.query(someTimeLater, [user.userId]);
    expect((await decide(agent, form, 'allow')).status).toBe(302);
  });

  it('beyond the limit give the answer of one that was taken, when it is sent again', async () => {
    const [rejected, allowed, other] = [
      await consentFor('no'),
      await consentFor('yes'),
      await consentFor('other'),
    ];
    const first = [await decide(agent, rejected, 'reject'), await decide(agent, allowed, 'allow')];
    await decided(1_001);
    const again = [await decide(agent, rejected, 'reject'), await decide(agent, allowed, 'allow')];
    expect(again.map(({ location }) => location)).toEqual(first.map(({ location }) => location));
    expect((await decide(agent, other, 'allow')).status).toBe(429);
  });

  it('are limited in all sessions together, each of them counted', async () => {
    await decide(agent, await consentFor('first'), 'allow');
    await decide(agent, await consentFor('second'), 'reject');
    const { rows } = await server.database.pool.query(
      'select round(decisions) as decisions from users where user_id = $1',
      [user.userId],
    );
    expect(rows).toEqual([{ decisions: 2 }]);
    await decided(1_001);
    for (const decision of ['allow', 'reject'] as const) {
      agent = new Agent(server.baseUrl);
      const answer = await decide(agent, await consentFor(decision), decision);
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '60']);
    }
    expect(await refusals()).toBe(1);
    await decided(999);
    expect((await decide(agent, await consentFor('third'), 'allow')).status).toBe(302);
  });

  it('count disconnecting all of an application, which may have to look through very much', async () => {
    for (const state of ['one', 'two']) await decide(agent, await consentFor(state), 'allow');
    const fields = fieldsFor(await agent.get('/account'), '/account/disconnect-all');
    await decided(1_001);
    const refused = await agent.post('/account/disconnect-all', fields);
    expect([refused.status, refused.page]).toEqual([429, 'notice']);
    const live = 'select from grants where user_id = $1 and revoked_at is null';
    expect(await count(live, user.userId)).toBe(2);
    await decided(0);
    expect((await agent.post('/account/disconnect-all', fields)).status).toBe(303);
    expect(await count(live, user.userId)).toBe(0);
  });
});

describe('sessions of one user', () => {
  it('are a hundred at most: with another one the oldest ends', async () => {
    await agent.get('/account');
    const first = new Agent(server.baseUrl);
    expect((await signIn(first, user.login, user.password)).status).toBe(303);
    await server.database.pool.query(
      `insert into sessions (session_hash, user_id)
       select sha256(($1 || n)::bytea), $1::uuid from generate_series(1, 99) n`,
      [user.userId],
    );
    expect((await first.get('/account')).page).toBe('account');
    const last = new Agent(server.baseUrl);
    await signIn(last, user.login, user.password);
    expect((await first.get('/account')).page).toBe('sign-in');
    expect((await last.get('/account')).page).toBe('account');
    expect(await count('select from sessions where user_id = $1', user.userId)).toBe(100);
  });
});
