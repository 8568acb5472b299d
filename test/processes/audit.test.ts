import { userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { Agent } from '../support/agent.ts';
import { decide, obtainToken, reachConsent, requestOf } from '../support/flow.ts';
import { onDatabase, type Run, runAssent } from '../support/process.ts';
import { useServer } from '../support/server.ts';

const server = await useServer();

function assent(args: string[]): Promise<Run> {
  return runAssent(args, onDatabase(server.database.url));
}

async function eventsOf(...args: string[]): Promise<Record<string, unknown>[]> {
  const { code, stdout, stderr } = await assent(['audit', ...args, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, unknown>[];
}

describe('assent audit', () => {
  it('tells what became of a user’s authorizations, oldest first, by login, application, reference and day', async () => {
    const [client, user] = [await server.createClient(), await server.createUser()];
    const agent = new Agent(server.baseUrl);
    const spending = { scope: 'payment-shop.limit(7,1500)', instance_name: 'till' };
    await decide(agent, await reachConsent(agent, requestOf(client, spending), user), 'reject');
    await obtainToken(agent, client, user, spending);
    const [grant] = JSON.parse((await assent(['grant', 'list', '--login', user.login, '--json'])).stdout);
    await assent(['grant', 'revoke', grant.grant_id]);

    const all = await eventsOf('--login', user.login);
    expect(all[0]).toMatchObject({ outcome: 'user_created', operator: 'tests', login: user.login });
    expect(all.slice(1, 3).map(({ outcome }) => outcome)).toEqual(['signed_in', 'payment_confirmed']);
    const events = all.slice(3);
    expect(events.map(({ outcome }) => outcome)).toEqual([
      'refused',
      'approved',
      'exchanged',
      'revoked_by_operator',
    ]);
    expect(events[1]).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      outcome: 'approved',
      login: user.login,
      client_id: client.clientId,
      client_name: 'Test Shop',
      instance_name: 'till',
      grant_id: grant.grant_id,
      scope: spending.scope,
      limits: [{ right: 'payment-shop', period_days: 7, amount: '1500', currency: 'RUB' }],
      address: expect.stringMatching(/^(127\.0\.0\.1|::1)$/),
      reference: expect.stringMatching(/^[0-9a-f]{10}$/),
      user_id: user.userId,
      resource_id: null,
      operator: null,
      detail: null,
    });
    const operator = userInfo().username;
    expect(events[3]).toMatchObject({ address: null, reference: null, scope: spending.scope, operator });
    const ofClient = await eventsOf('--client', client.clientId);
    expect(ofClient.slice(0, 2).map(({ outcome }) => outcome)).toEqual([
      'client_created',
      'client_secret_added',
    ]);
    expect(ofClient.slice(2)).toEqual([all[2], ...events]);
    expect(await eventsOf('--ref', String(events[2]?.reference))).toEqual([events[2]]);
    expect(await eventsOf('--login', user.login, '--since', String(events[2]?.at))).toEqual(events.slice(2));
    expect(await eventsOf('--login', user.login, '--since', '2100-01-01')).toEqual([]);
    const until = String(events[2]?.at);
    expect(await eventsOf('--login', user.login, '--until', until)).toEqual(all.slice(0, 5));
    expect(await eventsOf('--client', client.clientId, '--outcome', 'exchanged')).toEqual([events[2]]);
    expect(await eventsOf('--user', user.userId.toUpperCase(), '--outcome', 'exchanged')).toEqual([
      events[2],
    ]);
    expect(await eventsOf('--login', user.login, '--limit', '2')).toEqual(events.slice(2));

    const { stdout } = await assent(['audit', '--login', user.login, '--outcome', 'approved']);
    expect(stdout.split('\n')[0]).toMatch(
      /^at +outcome +user +client_id +instance_name +scope +address +reference$/,
    );
    expect(stdout).toContain(user.login);
  });

  it('gives programs that follow the trail each event once', async () => {
    const next = async (...args: string[]) => {
      const { stdout } = await assent(['audit', 'next', ...args, '--json']);
      return JSON.parse(stdout) as { events: Record<string, unknown>[]; place: string };
    };
    const first = await next();
    expect(first).toEqual({ events: [], place: expect.stringMatching(/^\d+(\.\d+){3}$/) });
    const user = await server.createUser();
    let { place } = first;
    const found: Record<string, unknown>[] = [];
    const read = async () => {
      const part = await next(place);
      place = part.place;
      found.push(...part.events.filter(({ user_id }) => user_id === user.userId));
      return found;
    };
    // Transactions of other tests may hold it back.
    await expect.poll(read, { timeout: 20_000 }).toHaveLength(1);
    expect(await read()).toEqual(await eventsOf('--login', user.login));
    const forPeople = await assent(['audit', 'next', first.place]);
    expect(forPeople.stdout).toMatch(
      new RegExp(`"user_created".*"login":"${user.login}"[^]*\n\\d+(\\.\\d+){3}\n$`),
    );
  });

  it('gives 5,000 and more events a time, or all that there are', async () => {
    const { stdout: first } = await assent(['audit', 'next']);
    const insert = `insert into audit_events (kind, reference) select 'signed_out', 'many' from generate_series(1, $1)`;
    for (const rows of [5_000, 10]) await server.database.pool.query(insert, [rows]);
    const follow = async (...args: string[]) => {
      const lines = (await assent(['audit', 'next', first.trim(), ...args])).stdout.trimEnd().split('\n');
      return { events: lines.filter((line) => line.includes('"many"')).length, place: lines.at(-1) ?? '' };
    };
    // Transactions of other tests may hold it back.
    await expect.poll(() => follow('--all'), { timeout: 20_000 }).toMatchObject({ events: 5_010 });
    const { events, place } = await follow();
    expect(events).toBe(5_000);
    expect((await assent(['audit', 'next', place])).stdout.match(/"many"/g)).toHaveLength(10);
  });

  it('is asked by id for what was erased or deleted', async () => {
    const user = await server.createUser();
    const created = await assent(['resource', 'create', '--name', 'API', '--json']);
    const { resource_id: id } = JSON.parse(created.stdout);
    expect((await assent(['user', 'delete', user.login, '--yes'])).code).toBe(0);
    expect((await assent(['resource', 'delete', id, '--yes'])).code).toBe(0);
    const outcomes = async (...args: string[]) => (await eventsOf(...args)).map(({ outcome }) => outcome);
    expect(await outcomes('--user', user.userId)).toEqual(['user_created', 'user_blocked', 'user_deleted']);
    const ofResource = ['resource_created', 'resource_secret_added', 'resource_deleted'];
    expect(await outcomes('--resource', id)).toEqual(ofResource);
    const { code, stderr } = await assent(['audit', '--client', 'x', '--resource', 'y']);
    expect([code, stderr]).toEqual([
      0,
      'no events, and there is no application x now, and there is no resource y now\n',
    ]);
  });

  it.each([
    [['audit'], 2, 'say whose events'],
    [['audit', '--login', 'nobody'], 1, 'there is no user nobody'],
    [['audit', '--user', 'anna'], 2, '--login takes logins'],
    [['audit', '--since', '7'], 2, 'Not a day or a time'],
    [['audit', '--since', '2026-02-31'], 2, 'Not a day or a time'],
    [['audit', '--until', '2026-02-01T12:00:00'], 2, 'Not a day or a time'],
    [['audit', '--limit', '0'], 2, 'Not a number from 1 to'],
    [['audit', '--outcome', 'aproved'], 2, 'There are: approved, approved_again, refused,'],
    [['audit', 'next', 'yesterday'], 2, 'not a place'],
    [['audit', 'next', `${'9'.repeat(18)}.1.1.1`], 1, 'of another database'],
    [['audit', 'next', '--limit', '5'], 2, 'audit next takes no --limit'],
    [['audit', 'prune', '--keep', '0'], 2, 'Not a number from 1 to 9999'],
    [['audit', 'prune', '--login', 'anna'], 2, 'audit prune takes no --login'],
    [['audit', '--since', '2020-01-01', 'prune'], 2, 'audit prune takes no --since'],
  ])('says what is missing: %j', async (args, code, message) => {
    const run = await assent(args);
    expect({ code: run.code, stdout: run.stdout }).toEqual({ code, stdout: '' });
    expect(run.stderr).toContain(message);
  });
});
