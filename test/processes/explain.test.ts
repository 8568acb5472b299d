import { describe, expect, it, vi } from 'vitest';
import { receiptsIn } from '../support/account.ts';
import { linkTo, obtainToken, requestOf, tokenRequestOf } from '../support/flow.ts';
import { Agent, type Answer } from '../support/http/agent.ts';
import { converse } from '../support/http/rawHttp.ts';
import { basic } from '../support/http/tokenRequests.ts';
import { setUserStatus } from '../support/operators.ts';
import { plant } from '../support/postgres/plant.ts';
import { commandsOf } from '../support/process/commands.ts';
import { PATIENCE } from '../support/process/program.ts';
import { useServer } from '../support/server.ts';

const server = await useServer({ trustProxy: 1 });
let networks = 0;

const client = await server.createClient();

/** A browser in a new network. */
const stranger = () => new Agent(server.baseUrl, { 'x-forwarded-for': `198.51.100.${++networks}` });

const { assent, json, refused } = commandsOf(server.database);

const kept = async () => (await server.database.pool.query('select * from refusals order by slot')).rows;

/** Waits for the stored refusal: a server stores refusals in batches. */
function keptOf({ headers }: Answer) {
  const reference = headers.get('x-request-id');
  const find = async () => (await kept()).find((refusal) => refusal.reference === reference);
  return vi.waitUntil(find, PATIENCE);
}

/** Requests a page that is refused, and waits until the refusal is stored. @returns the reference */
async function refusedPage(of = client, redirect_uri = 'x'): Promise<string> {
  return (await keptOf(await stranger().get(linkTo(requestOf(of, { redirect_uri }))))).reference;
}

describe('assent explain', () => {
  it('shows the broken rule and the remedy for the reference on an error page', async () => {
    const asked = requestOf(client, { redirect_uri: 'http://127.0.0.1:9/callbacl', state: 'private' });
    const page = await stranger().get(linkTo(asked));
    const reference = /Reference\s*([0-9a-f]{10})/.exec(page.text)?.[1] ?? '';
    await keptOf(page);
    const { code, stdout, stderr } = await assent(`explain ${reference.toUpperCase()}`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('redirect_uri differs from the registered one at character 27');
    expect(stdout).toMatch(new RegExp(`^commands +assent client show ${client.clientId}$`, 'm'));
    // Only the command to paste is longer than a line of a terminal.
    const pasted = `assent client update ${client.clientId} --redirect-uri URI`;
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([expect.stringContaining(pasted)]);
    expect(await json(`explain ${reference}`)).toMatchObject({
      reference,
      path: '/oauth/authorize',
      error: 'invalid_request',
      rule_id: 'redirect_uri_unregistered',
      client_id: client.clientId,
      remedy: expect.stringContaining(`assent client show ${client.clientId}`),
    });
  });

  it.each([
    ['the text of the rule has changed', `rule = 'reworded'`, /assent client show [0-9a-f]{32}/],
    ['an earlier build stored the refusal without a rule_id', 'rule_id = null', /^Another build of Assent/],
  ])('shows a remedy also if %s', async (_case, change, remedy) => {
    const reference = await refusedPage();
    await server.database.pool.query(`update refusals set ${change} where reference = $1`, [reference]);
    expect((await json<{ remedy: string }>(`explain ${reference}`)).remedy).toMatch(remedy);
  });

  it('finds refusals of every kind, also of malformed HTTP', async () => {
    const agent = stranger();
    const basic = { authorization: 'Basic eDp4' };
    for (const [answer, rule_id] of [
      [await agent.post('/oauth/token', tokenRequestOf(client, 'x')), 'code_malformed'],
      [await agent.get('/no/such/page'), 'not_found'],
      [await agent.get('/%ff'), 'unreadable_address'],
      [await agent.post('/oauth/introspect', { token: 'x' }, basic), 'resource_not_authenticated'],
      [await agent.get('/oauth/account', { 'sec-fetch-dest': 'iframe' }), 'embedded'],
    ] as const)
      expect(await keptOf(answer)).toMatchObject({ rule_id });
    const { answers } = await converse(server.baseUrl, 'no http at all\r\n\r\n');
    const reference = answers[0]?.headers.get('x-request-id')?.[0];
    const latest = async () => (await kept()).at(-1);
    await expect.poll(latest).toMatchObject({ reference, rule_id: 'unreadable_http' });
  });

  it('records only a registered client_id', async () => {
    const send = (id: string) => [
      stranger().post('/oauth/token', { client_id: id }),
      stranger().post('/oauth/token', {}, basic(id, 'x')),
      stranger().post('/oauth/sign-in', { request: `client_id=${id}` }),
    ];
    for (const answer of send(client.clientId))
      expect(await keptOf(await answer)).toMatchObject({ client_id: client.clientId });
    for (const answer of send('sent-by-mistake'))
      expect(await keptOf(await answer)).toMatchObject({ client_id: null });
  });

  it('shows the approval of the number on a receipt, and the command for what is left of it', async () => {
    const user = await server.createUser();
    const agent = stranger();
    await obtainToken(agent, client, user, { scope: 'payment-shop.limit(7,900)' });
    const [receipt = ''] = await receiptsIn(agent);
    const number = receipt.split('/').at(-1) ?? '';
    const { code, stdout } = await assent(`explain ${number}`);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^rights +Pay any shop: at most RUB\s900 in any\s7\sdays$/m);
    expect(stdout).toMatch(/^commands +assent grant show [0-9a-f-]{36}$/m);
    expect(await json(`explain ${number}`)).toMatchObject({ outcome: 'approved', login: user.login });
    expect(await refused('explain 2026-01-01-0000000000', 1)).toMatch(/^there is no receipt 2026-01-01-/);
  });

  it('says that an unknown reference may be too recent', async () => {
    const sentence = await refused('explain 0000000000', 1);
    expect(sentence).toMatch(/^no refusal is stored under 0000000000\. If it is new, try again in two /);
  });
});

it('assent client refusals lists those of one application in a week as explain shows them, newest first', async () => {
  const [own, other] = [await server.createClient(), await server.createClient()];
  const line = `client refusals ${own.clientId}`;
  expect(await assent(line)).toEqual({ code: 0, stdout: '', stderr: 'no refusals\n' });
  const oldest = await refusedPage(own);
  await refusedPage(other);
  const newest = await refusedPage(own, 'z');
  const explained = async (reference: string) => {
    const { method, client_id, client_name, ...rest } = await json(`explain ${reference}`);
    return rest;
  };
  const [first, second] = [await explained(oldest), await explained(newest)];
  expect(await json(line)).toEqual([second, first]);
  expect((await assent(line)).stdout).toMatch(/^rule_id +redirect_uri_unregistered\nremedy +\w/m);
  expect(await refused('client refusals nothing', 1)).toBe('there is no client nothing\n');
  const aWeekAgo = `update refusals set at = at - interval '7 days' where reference = $1`;
  await server.database.pool.query(aWeekAgo, [newest]);
  expect(await json(line)).toEqual([first]);
});

describe('a recorded refusal', () => {
  it('contains no parameter of the request except the client_id, and no address of its sender', async () => {
    const agent = stranger();
    await agent.get(linkTo(requestOf(client, { state: 'a-state', scope: 'payment-shop("typed")' })));
    await keptOf(await agent.post('/oauth/token', tokenRequestOf(client, 'the-code-that-was-sent')));
    const text = JSON.stringify(await kept());
    const sent = ['a-state', 'typed', 'the-code', client.clientSecret, 'sent-by-mistake'];
    for (const part of [...sent, '198.51', '127.0.0.1']) expect(text).not.toContain(part);
  });

  it('replaces the oldest refusal when all slots are used', async () => {
    await plant(
      server.database,
      `select setval(pg_get_serial_sequence('refusals', 'slot'), 100000)`,
      `insert into refusals overriding system value
       select n, clock_timestamp(), n::text, 'GET', '/', 400, 'x', 'x' from generate_series(1, 100000) n on conflict do nothing`,
    );
    await refusedPage();
    const counted = 'select count(*)::int as count, max(slot) as last from refusals';
    const { rows } = await server.database.pool.query(counted);
    expect(rows).toEqual([{ count: 100_000, last: 100_000 }]);
  });
});

describe('assent token show', () => {
  const user = server.createUser({ login: 'tanya', name: 'Tanya' });

  const shown = (token: string) => json('token show', `${token}\n`);

  it('shows the user and the state of a token, and never the token', async () => {
    const token = await obtainToken(stranger(), client, await user, { instance_name: 'till' });
    const active = await shown(token);
    expect(JSON.stringify(active)).not.toContain(token);
    const ofGrant = { login: 'tanya', client_id: client.clientId, instance_name: 'till' };
    expect(active).toMatchObject({ ...ofGrant, token: 'active', state: 'active', last_used_on: null });
    expect(Date.parse(String(active.expires_at))).toBeGreaterThan(Date.parse(String(active.issued_at)));
    await setUserStatus(server.database.pool, 'tanya', 'blocked', 'tests');
    expect(await shown(token)).toMatchObject({ token: 'user blocked', state: 'active' });
    await setUserStatus(server.database.pool, 'tanya', 'active', 'tests');
    const later = await obtainToken(stranger(), client, await user, { instance_name: 'till' });
    expect(await shown(token)).toMatchObject({ token: expect.stringMatching(/^replaced/), state: 'active' });
    await stranger().post('/api/revoke', {}, { authorization: `Bearer ${later}` });
    expect(await shown(later)).toMatchObject({ token: 'revoked' });
  });

  const UNKNOWN = [`assent_ac_${'A'.repeat(64)}`, `assent_at_${'A'.repeat(64)}`, 'hunter2', ''];

  it.each(UNKNOWN)('refuses a code, an unknown token and any other text: %j', async (token) => {
    const { code, stdout, stderr } = await assent('token show', `${token}\n`);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^there is no authorization of this token: pass an access token .+\n$/);
  });
});
