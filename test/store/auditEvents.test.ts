import { describe, expect, it } from 'vitest';
import { countStrays } from '../../src/store/schema/auditPartitions.ts';
import { pruneAuditPartitions } from '../../src/store/schema/auditPruning.ts';
import { migrate } from '../../src/store/schema/migrate.ts';
import { Agent } from '../support/agent.ts';
import { decide, obtainCode, obtainToken, reachConsent, requestOf, tokenRequestOf } from '../support/flow.ts';
import { useServer } from '../support/server.ts';

const server = await useServer({ trustProxy: 1 });
const ADDRESS = '198.51.100.7';

const client = await server.createClient();
const user = await server.createUser();
const agent = new Agent(server.baseUrl, { 'x-forwarded-for': ADDRESS });

type Row = Record<string, unknown>;

async function eventsOf(instance: string): Promise<Row[]> {
  const { rows } = await server.database.pool.query<Row>(
    'select * from audit_events where instance_name = $1 order by at',
    [instance],
  );
  return rows;
}

async function ask<Result extends object>(statement: string, values: unknown[] = []): Promise<Result[]> {
  return (await server.database.pool.query<Result>(statement, values)).rows;
}

/** A month in UTC, as `2026-11`. */
function monthsAgo(months: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months)).toISOString().slice(0, 7);
}

const partitionOf = (month: string) => `audit_events_${month.replace('-', '_')}`;

describe('the audit trail', () => {
  const SCOPE = 'account-info payment-shop.limit(7,1500)';
  const LIMIT = { right: 'payment-shop', period_days: 7, amount: '1500', currency: 'RUB' };

  it('says of a decision who, what, within which limits, from where and in which request', async () => {
    const fields = requestOf(client, { scope: SCOPE, instance_name: 'decisions' });
    const rejected = await decide(agent, await reachConsent(agent, fields, user), 'reject');
    const allowed = await decide(agent, await reachConsent(agent, fields, user), 'allow');
    const again = await decide(agent, await reachConsent(agent, fields, user), 'allow');
    const about = {
      user_id: user.userId,
      client_id: client.clientId,
      instance_name: 'decisions',
      scope: SCOPE,
      limits: [LIMIT],
      address: ADDRESS,
    };
    const reference = (answer: typeof allowed) => answer.headers.get('x-request-id');
    expect(await eventsOf('decisions')).toMatchObject([
      { ...about, kind: 'rejected', reference: reference(rejected) },
      { ...about, kind: 'approved', reference: reference(allowed) },
      { ...about, kind: 'approved_again', reference: reference(again) },
    ]);
  });

  it('says the same of an exchange, a replay, and each way to take an authorization back', async () => {
    const instance = (name: string) => ({ instance_name: name });
    const code = await obtainCode(agent, requestOf(client, instance('replayed')), user);
    const first = await agent.post('/oauth/token', tokenRequestOf(client, code));
    const second = await agent.post('/oauth/token', tokenRequestOf(client, code));
    const token = await obtainToken(agent, client, user, instance('given back'));
    const { clientId: client_id, clientSecret } = client;
    await agent.post('/oauth/revoke', { token, client_id, client_secret: clientSecret ?? '' });
    await obtainToken(agent, client, user, instance('disconnected'));
    const form = (await agent.get('/account')).forms.find(({ action }) => action === '/account/disconnect');
    const disconnected = await agent.post('/account/disconnect', form?.fields ?? {});

    const [, exchanged, replayed] = await eventsOf('replayed');
    const common = { scope: 'account-info operation-history', address: ADDRESS, user_id: user.userId };
    expect(exchanged).toMatchObject({
      ...common,
      kind: 'exchanged',
      reference: first.headers.get('x-request-id'),
    });
    expect(replayed).toMatchObject({
      ...common,
      kind: 'replayed',
      reference: second.headers.get('x-request-id'),
    });
    expect((await eventsOf('given back')).at(-1)).toMatchObject({
      ...common,
      kind: 'revoked_by_application',
    });
    const reference = disconnected.headers.get('x-request-id');
    expect((await eventsOf('disconnected')).at(-1)).toMatchObject({
      ...common,
      kind: 'revoked_by_user',
      reference,
    });
  });

  it.each([
    'update audit_events set user_id = null',
    'delete from audit_events',
    'truncate audit_events',
    'truncate audit_events_rest',
  ])('can’t be rewritten, not even by the owner: %s', async (statement) => {
    const count = 'select count(*)::int as count from audit_events';
    const before = await ask(count);
    expect(before).not.toEqual([{ count: 0 }]);
    await expect(ask(statement)).rejects.toThrow(/append-only/);
    expect(await ask(count)).toEqual(before);
  });

  it('can’t be rewritten in one month’s partition either', async () => {
    const [partition] = await ask<{ name: string }>(
      `select relname as name from audit_events join pg_class c on c.oid = audit_events.tableoid limit 1`,
    );
    expect(partition?.name).toMatch(/^audit_events_\d{4}_\d{2}$/);
    for (const statement of ['truncate', 'delete from'])
      await expect(ask(`${statement} ${partition?.name}`)).rejects.toThrow(/append-only/);
  });

  it('keeps what no month is there for, and moves it when the owner migrates', async () => {
    for (const at of [
      `${monthsAgo(37)}-01T00:00:00Z`,
      `${monthsAgo(36)}-01T00:00:00Z`,
      '2041-07-15T12:00:00Z',
    ]) {
      await ask(
        `insert into audit_events (at, kind, instance_name, operator, resource_id, detail)
         values ($1, 'approved', 'rest', 'olga', 'api', '{"one": 1}')`,
        [at],
      );
    }
    const places = `select to_char(at at time zone 'UTC', 'YYYY-MM') as month, relname as place
                      from audit_events e join pg_class c on c.oid = e.tableoid where instance_name = 'rest' order by at`;
    expect(new Set((await ask<{ place: string }>(places)).map(({ place }) => place))).toEqual(
      new Set(['audit_events_rest']),
    );
    await migrate(server.database.pool);
    expect(await ask(places)).toEqual([
      { month: monthsAgo(37), place: partitionOf(monthsAgo(37)) },
      { month: monthsAgo(36), place: partitionOf(monthsAgo(36)) },
      { month: '2041-07', place: 'audit_events_rest' },
    ]);
    const [moved] = await ask<Row>(`select * from ${partitionOf(monthsAgo(37))}`);
    expect(moved).toMatchObject({
      reference: null,
      operator: 'olga',
      resource_id: 'api',
      detail: { one: 1 },
    });
    await expect(ask(`delete from ${partitionOf(monthsAgo(37))}`)).rejects.toThrow(/append-only/);
    await expect(ask('delete from audit_events_rest')).rejects.toThrow(/append-only/);
  });

  it('has partitions for a year ahead', async () => {
    const [last] = await ask<{ ahead: boolean }>(
      `select to_regclass(to_char(clock_timestamp() at time zone 'UTC' + interval '12 months', '"audit_events_"YYYY_MM'))
              is not null as ahead`,
    );
    expect(last?.ahead).toBe(true);
  });

  it('gets no partition for a month that is too long ago or too far ahead, whatever time a row claims', async () => {
    const count = `select count(*)::int from pg_inherits where inhparent = 'audit_events'::regclass`;
    const before = await ask(count);
    const strange = ['-infinity', '1700-01-01', `${monthsAgo(38)}-28T23:59:59Z`, '9999-12-31', 'infinity'];
    for (const at of strange) await ask(`insert into audit_events (at, kind) values ($1, 'strange')`, [at]);
    await migrate(server.database.pool);
    expect(await ask(count)).toEqual(before);
    expect(await countStrays(server.database.pool)).toEqual({ rows: 6, early: 3 });
  });

  it('is pruned by whole months, oldest first, and never this month', async () => {
    const { months: gone } = await pruneAuditPartitions(server.database.pool, 36, 'tests');
    expect(gone.filter((month) => month > '2000')).toEqual([monthsAgo(38), monthsAgo(37)]);
    expect(await ask('select from audit_events where at < $1', [`${monthsAgo(36)}-01Z`])).toEqual([]);
    expect(await countStrays(server.database.pool)).toEqual({ rows: 3, early: 0 });
    await expect(ask('delete from audit_events_rest')).rejects.toThrow(/append-only/);
    const { months: more } = await pruneAuditPartitions(server.database.pool, 1, 'tests');
    expect(more).not.toContain(new Date().toISOString().slice(0, 7));
    expect((await eventsOf('decisions')).length).toBe(3);
    const pruned = await ask<{ months: string[] }>(
      `select detail -> 'months' as months from audit_events
        where kind = 'trail_pruned' and operator = 'tests' and (detail ->> 'kept')::int = 36 order by at`,
    );
    expect(new Set(pruned.flatMap(({ months }) => months))).toEqual(new Set(gone));
  });
});

describe('the day that a client secret was last used', () => {
  it('is noted with an exchange, and only for the secret that was sent', async () => {
    const shop = await server.createClient();
    const used = 'select last_used_on = current_date as today from client_secrets where client_id = $1';
    expect(await ask(used, [shop.clientId])).toEqual([{ today: null }]);
    await obtainToken(agent, shop, user);
    expect(await ask(used, [shop.clientId])).toEqual([{ today: true }]);
    await ask(`update client_secrets set last_used_on = '2020-01-01' where client_id = $1`, [shop.clientId]);
    await agent.post('/oauth/token', tokenRequestOf(shop, 'no code', { client_secret: 'wrong' }));
    expect(await ask(used, [shop.clientId])).toEqual([{ today: false }]);
    await agent.post('/oauth/token', tokenRequestOf(shop, 'no code'));
    expect(await ask(used, [shop.clientId])).toEqual([{ today: true }]);
  });
});
