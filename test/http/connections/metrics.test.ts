import { beforeEach, describe, expect, it } from 'vitest';
import { actorsAt, follow, press } from '../../support/account.ts';
import { operatorToken } from '../../support/admin.ts';
import {
  confirm,
  decide,
  linkTo,
  obtainCode,
  obtainToken,
  reachConsent,
  requestOf,
  signIn,
  tokenRequestOf,
} from '../../support/flow.ts';
import { Agent } from '../../support/http/agent.ts';
import { newSecret } from '../../support/ledger.ts';
import { growth, readSeries, type Series } from '../../support/metrics.ts';
import { ownDatabase } from '../../support/postgres/database.ts';
import { askAndCut } from '../../support/postgres/locks.ts';
import { startServer, useServer } from '../../support/server.ts';
import { expireCode } from '../../support/state.ts';

const server = await useServer({ trustProxy: 1 });
const { pool } = server.database;

const PAYS = { scope: 'payment.to-account("410011161616877").limit(30,200)' };

async function scrape({ baseUrl } = server): Promise<Series> {
  return readSeries((await new Agent(baseUrl).get('/metrics')).body);
}

let { client, user, agent } = await actorsAt(server);

beforeEach(async () => {
  ({ client, user, agent } = await actorsAt(server));
});

const exchange = (code: string, fields = {}) =>
  agent.post('/oauth/token', tokenRequestOf(client, code, fields));
const giveBack = (token: string) => agent.post('/api/revoke', {}, { authorization: `Bearer ${token}` });

const HAPPENED = /^assent_(decisions|grants_ended|exchanges|sign_ins|payment_confirmations|throttled)_total/;

/** The counters that grew meanwhile, by short names such as `decisions: approved`. */
async function counted(work: () => Promise<unknown>, pattern = HAPPENED): Promise<Record<string, number>> {
  const before = await scrape();
  await work();
  const grown = Object.entries(growth(before, await scrape(), pattern));
  return Object.fromEntries(
    grown.map(([series, by]) => [series.replace(/^assent_(.+?)(_total)?\{\w+="([^"]+)"\}$/, '$1: $3'), by]),
  );
}

describe('/metrics', () => {
  it('counts requests by route, status and error, without request content', async () => {
    const before = await scrape();
    await agent.get(linkTo(requestOf(client, { state: 'not-to-be-told' })));
    await exchange('not-to-be-told');
    await agent.get('/not-to-be-told');
    const { body } = await agent.get('/metrics');
    const shown = /requests_total.+route="(?!\/metrics)|seconds_count.+token"/;
    expect(growth(before, readSeries(body), shown)).toEqual({
      'assent_requests_total{method="GET",route="/oauth/authorize",status="200",error=""}': 1,
      'assent_requests_total{method="POST",route="/oauth/token",status="400",error="invalid_grant"}': 1,
      'assent_requests_total{method="GET",route="none",status="404",error="not_found"}': 1,
      'assent_request_seconds_count{route="/oauth/token"}': 1,
    });
    expect(body).not.toContain('not-to-be-told');
    expect(body).not.toContain(client.clientId);
  });

  it('starts every counter at 0, so that the first event is an increase', async () => {
    const own = await startServer();
    const series = await scrape(own);
    await own.close();
    for (const counter of [
      'decisions_total{decision="rejected"}',
      'exchanges_total{outcome="code_replayed"}',
      'faults_total',
      'grants_ended_total{by="replay"}',
      'operator_failures_total{status="401"}',
      'sign_ins_total{outcome="unavailable"}',
      'statement_failures_total{statement="grant-exchange",reason="timeout"}',
      'batch_refused_total{batch="grant-exchange"}',
      'throttled_total{by="failures"}',
      'unavailable_total{reason="overload"}',
    ])
      expect([counter, series.get(`assent_${counter}`)]).toEqual([counter, 0]);
  });

  it('reports the state of the process and its pool, and the range of partitions', async () => {
    const series = await scrape();
    const states = ['assent_database_up', 'assent_ready', 'assent_draining', 'assent_audit_months_ahead'];
    expect(states.map((name) => series.get(name))).toEqual([1, 1, 0, 12]);
    expect(series.get('assent_pool_max_connections{pool="primary"}')).toBe(pool.options.max);
    const open = series.get('assent_pool_connections{pool="primary"}') ?? 0;
    expect(open).toBeGreaterThan(0);
    expect(series.get('assent_pool_idle_connections{pool="primary"}')).toBeLessThanOrEqual(open);
    const names = [...series.keys()];
    expect(names).toContainEqual(
      expect.stringMatching(/^assent_build_info\{version="\d[^"]+",node="v\d[^"]+"\}$/),
    );
    expect(names).toContain('nodejs_eventloop_lag_p99_seconds');
  });

  it('tells when the first operator’s token ends, in the database or in OPERATORS_FILE', async () => {
    const database = await ownDatabase();
    const days = async (...ends: (Date | null)[]) => {
      const metrics = { onThisPort: true, token: null, tokenEnds: () => ends };
      const own = await startServer({ database, metrics });
      const seconds = (await scrape(own)).get('assent_operator_token_expires_seconds');
      await own.close();
      return seconds && Math.ceil(seconds / 86_400);
    };
    const inDays = (count: number) => new Date(Date.now() + count * 86_400_000);
    expect(await days(null, inDays(-1))).toBeUndefined();
    for (const count of [30, 40]) await operatorToken(database.pool, `tea ${count}`, 'reads', count);
    expect(await days(inDays(50), null)).toBe(30);
    expect(await days(inDays(20), inDays(-1))).toBe(20);
    await database.pool.query(`update operators set retired_at = clock_timestamp() where name = 'tea 30'`);
    expect(await days()).toBe(40);
    await database.pool.query('update operators set expires_at = clock_timestamp()');
    expect(await days()).toBeUndefined();
  });

  it('queries the database once for many scrapes', async () => {
    const own = await startServer();
    const first = await scrape(own);
    const [last = first] = await Promise.all(Array.from({ length: 20 }, () => scrape(own)));
    await own.close();
    expect(first.get('assent_schema_version')).toBeGreaterThan(0);
    expect(growth(first, last, /statements_total.+schema-facts/)).toEqual({
      'assent_statements_total{statement="schema-facts"}': 1,
    });
  });
});

describe('the event counters', () => {
  it('count each event of a whole flow once', async () => {
    expect(await counted(() => obtainToken(agent, client, user, PAYS))).toEqual({
      'sign_ins: signed_in': 1,
      'payment_confirmations: confirmed': 1,
      'decisions: approved': 1,
      'exchanges: issued': 1,
    });
  });

  it.each([
    ['allow', 'approved'],
    ['reject', 'rejected'],
  ] as const)('count a decision once even if it is submitted twice: %s', async (decision, told) => {
    const page = await reachConsent(agent, requestOf(client), user);
    const twice = () => Promise.all([1, 2].map(() => decide(agent, page, decision)));
    expect(await counted(twice)).toEqual({ [`decisions: ${told}`]: 1 });
  });

  it('count an approval, and the earlier code or token that it annuls, if any', async () => {
    const again = () => obtainCode(agent, requestOf(client), user);
    for (const first of [again, () => obtainToken(agent, client, user)]) {
      await first();
      expect(await counted(again)).toEqual({ 'decisions: approved': 1, 'grants_ended: approval': 1 });
    }
    await giveBack(await obtainToken(agent, client, user));
    expect(await counted(again)).toEqual({ 'decisions: approved': 1 });
  });

  it('count the first replay of a code apart from later ones', async () => {
    const code = await obtainCode(agent, requestOf(client), user);
    await exchange(code);
    const again = () => counted(() => exchange(code));
    expect(await again()).toEqual({ 'exchanges: code_replayed': 1, 'grants_ended: replay': 1 });
    expect(await again()).toEqual({ 'exchanges: code_used': 1 });
  });

  it('count an expired code, an unknown code, a wrong secret and another redirect_uri', async () => {
    const code = await obtainCode(agent, requestOf(client), user);
    const refusals = async () => {
      await exchange('nobody gave this');
      await exchange(code, { client_secret: newSecret() });
      await exchange(code, { redirect_uri: 'http://127.0.0.1:9/other' });
      await expireCode(server, client);
      await exchange(code);
    };
    expect(await counted(refusals)).toEqual({
      'exchanges: code_unknown': 1,
      'exchanges: secret_wrong': 1,
      'exchanges: redirect_uri_differs': 1,
      'exchanges: code_expired': 1,
    });
  });

  it('count a token once if it is revoked twice, and each authorization that the user ends', async () => {
    const token = await obtainToken(agent, client, user, { instance_name: 'one' });
    const twice = () => Promise.all([giveBack(token), giveBack(token)]);
    expect(await counted(twice)).toEqual({ 'grants_ended: application': 1 });
    for (const instance_name of ['two', 'three', 'four'])
      await obtainToken(agent, client, user, { instance_name });
    const disconnect = async () =>
      press(agent, await agent.get('/oauth/account'), '/oauth/account/disconnect');
    expect(await counted(disconnect)).toEqual({ 'grants_ended: user': 1 });
    const stop = async () => press(agent, await agent.get('/oauth/account/stop'), '/oauth/account/stop');
    expect(await counted(stop)).toEqual({ 'grants_ended: user': 2 });
  });

  it('count wrong passwords, and the throttled attempt after them', async () => {
    const guesser = new Agent(server.baseUrl, { 'x-forwarded-for': '198.51.100.7' });
    const prolong = `update throttles set free_at = clock_timestamp() + interval '25 seconds' where free_at > counted_at`;
    const guesses = async () => {
      for (let times = 0; times < 5; times += 1) await signIn(guesser, user.login, 'wrong');
      await pool.query(prolong);
      await signIn(guesser, user.login, 'wrong');
    };
    expect(await counted(guesses)).toEqual({
      'sign_ins: wrong': 5,
      'sign_ins: wait': 1,
      'throttled: place': 1,
    });
  });

  it('count an invalid sign-in form, a wrong payment password, and an invalid decision', async () => {
    const page = await agent.get('/oauth/account');
    const stale = { login: user.login, password: user.password, form_token: newSecret() };
    expect(await counted(() => agent.submit(page, 'login', stale))).toEqual({ 'sign_ins: stale': 1 });
    await signIn(agent, user.login, user.password);
    const consent = await reachConsent(agent, requestOf(client, PAYS), user);
    const form = await follow(agent, await agent.submit(consent, 'decision', { decision: 'allow' }));
    expect(await counted(() => confirm(agent, form, 'wrong'))).toEqual({ 'payment_confirmations: wrong': 1 });
    const decision = { decision: newSecret(), payment_password: user.paymentPassword ?? '' };
    const altered = () => agent.submit(form, 'payment_password', decision);
    expect(await counted(altered)).toEqual({ 'payment_confirmations: stale': 1 });
  });

  it('count an exchange once even if its first database connection was lost', async () => {
    const code = await obtainCode(agent, requestOf(client), user);
    const lock = `select from grants where client_id = '${client.clientId}' for update`;
    const cutOnce = () => askAndCut(pool, lock, () => exchange(code));
    expect(await counted(cutOnce, /exchanges_total|failures_total.*grant-exchange/)).toEqual({
      'exchanges: issued': 1,
      'assent_statement_failures_total{statement="grant-exchange",reason="connection"}': 1,
    });
  });
});

describe('the metrics of statements, batches and passwords', () => {
  it('count statements by name, and measure the size of each batch', async () => {
    const codes: string[] = [];
    for (const instance_name of ['one', 'two', 'three'])
      codes.push(await obtainCode(agent, requestOf(client, { instance_name }), user));
    const before = await scrape();
    await Promise.all(codes.map((code) => exchange(code)));
    const grown = growth(before, await scrape(), /grant-exchange/);
    const statements = grown['assent_statements_total{statement="grant-exchange"}'];
    expect(statements).toBeGreaterThan(0);
    expect(grown).toMatchObject({
      'assent_batch_size_sum{batch="grant-exchange"}': 3,
      'assent_batch_size_count{batch="grant-exchange"}': statements,
      'assent_batch_wait_seconds_count{batch="grant-exchange"}': statements,
    });
    expect(grown['assent_statement_seconds_total{statement="grant-exchange"}']).toBeGreaterThan(0);
  });

  it('measure the wait for a password check by queue: unknown and known devices', async () => {
    for (const queue of ['stranger', 'known']) {
      const enter = () => signIn(agent, user.login, user.password);
      const waits = await counted(enter, /^assent_password_wait_seconds_count/);
      expect(waits).toEqual({ [`password_wait_seconds_count: ${queue}`]: 1 });
      agent.cookies.delete('assent_session');
    }
  });
});

it('/metrics requires METRICS_TOKEN if it is set, and returns no metrics without it', async () => {
  const TOKEN = newSecret();
  const secured = await startServer({ metrics: { onThisPort: true, token: TOKEN } });
  const agent = new Agent(secured.baseUrl);
  for (const authorization of ['', `Bearer ${TOKEN}x`, 'Bearer', TOKEN, `Basic ${btoa(`:${TOKEN}`)}`]) {
    const { status, headers, body } = await agent.get('/metrics', { authorization });
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="metrics"']);
    expect(body).not.toContain('assent_');
  }
  const { status, body } = await agent.get('/metrics', { authorization: `Bearer ${TOKEN}` });
  expect([status, body.includes('assent_requests_total')]).toEqual([200, true]);
  await secured.close();
});
