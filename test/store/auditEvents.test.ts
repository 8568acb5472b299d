import { describe, expect, it } from 'vitest';
import { countStrays, pruneAuditPartitions } from '../../src/store/schema/auditPartitions.ts';
import { migrate } from '../../src/store/schema/migrate.ts';
import { fieldsFor } from '../support/account.ts';
import { obtainCode, obtainToken, requestOf, tokenRequestOf } from '../support/flow.ts';
import { Agent, type Answer } from '../support/http/agent.ts';
import { useServer } from '../support/server.ts';

const server = await useServer({ trustProxy: 1 });
const { pool } = server.database;
const ADDRESS = '198.51.100.7';

const client = await server.createClient();
const user = await server.createUser();
const agent = new Agent(server.baseUrl, { 'x-forwarded-for': ADDRESS });

async function ask(statement: string, values: unknown[] = []) {
  return (await pool.query(statement, values)).rows;
}

const eventsOf = (instance: string) =>
  ask('select * from audit_events where instance_name = $1 order by at', [instance]);

const referenceOf = ({ headers }: Answer) => headers.get('x-request-id');

/** A month in UTC, as `2026-11`. */
function monthsAgo(months: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months)).toISOString().slice(0, 7);
}

const partitionOf = (month: string) => `audit_events_${month.replace('-', '_')}`;

describe('the audit trail', () => {
  it('records user, scope, address and request of an exchange, a replay and revocations', async () => {
    const token = (instance_name: string) => obtainToken(agent, client, user, { instance_name });
    const code = await obtainCode(agent, requestOf(client, { instance_name: 'replayed' }), user);
    const form = tokenRequestOf(client, code);
    const send = () => agent.post('/oauth/token', form);
    const [exchanged, replayed] = [await send(), await send()];
    const revoked = await agent.post('/oauth/revoke', { ...form, token: await token('given back') });
    await token('disconnected');
    const owned = fieldsFor(await agent.get('/oauth/account'), '/oauth/account/disconnect');
    const disconnected = await agent.post('/oauth/account/disconnect', owned);

    const about = { scope: 'account-info operation-history', address: ADDRESS, user_id: user.userId };
    const event = (kind: string, answer: Answer) => ({ ...about, kind, reference: referenceOf(answer) });
    expect((await eventsOf('replayed')).slice(1)).toMatchObject([
      event('exchanged', exchanged),
      event('replayed', replayed),
    ]);
    expect((await eventsOf('given back')).at(-1)).toMatchObject(event('revoked_by_application', revoked));
    expect((await eventsOf('disconnected')).at(-1)).toMatchObject(event('revoked_by_user', disconnected));
  });

  it.each([
    'update audit_events set user_id = null',
    'delete from audit_events',
    'truncate audit_events',
    'truncate audit_events_rest',
    `truncate ${partitionOf(monthsAgo(0))}`,
    `delete from ${partitionOf(monthsAgo(0))}`,
  ])('is append-only, also for the owner: %s [auditEvents-1]', async (statement) => {
    const count = 'select count(*)::int as count from audit_events';
    const before = await ask(count);
    expect(before).not.toEqual([{ count: 0 }]);
    await expect(ask(statement)).rejects.toThrow(/append-only/);
    expect(await ask(count)).toEqual(before);
  });

  it('has partitions for a year ahead, keeps other rows, and moves these when the owner migrates', async () => {
    const months = [37, 36, -12].map(monthsAgo);
    for (const month of [...months, '2041-07'])
      await ask(
        `insert into audit_events (at, kind, instance_name, operator, resource_id, detail)
         values ($1, 'approved', 'rest', 'olga', 'api', '{"one": 1}')`,
        [`${month}-01T00:00:00Z`],
      );
    const findPlaces = `select relname as place from audit_events e join pg_class c on c.oid = e.tableoid
                         where instance_name = 'rest' order by at`;
    const places = async () => (await ask(findPlaces)).map(({ place }) => place);
    const [oldest, older, ahead] = months.map(partitionOf);
    const rest = 'audit_events_rest';
    expect(await places()).toEqual([rest, rest, ahead, rest]);
    await migrate(pool);
    expect(await places()).toEqual([oldest, older, ahead, rest]);
    const content = { reference: null, operator: 'olga', resource_id: 'api', detail: { one: 1 } };
    expect(await ask(`select * from ${oldest}`)).toMatchObject([content]);
    for (const place of [oldest, rest])
      await expect(ask(`delete from ${place}`)).rejects.toThrow(/append-only/);
  });

  it('gets no partition for a month too far in the past or future, even for a row of that time [auditEvents-2]', async () => {
    const count = `select count(*)::int from pg_inherits where inhparent = 'audit_events'::regclass`;
    const before = await ask(count);
    const strange = ['-infinity', '1700-01-01', `${monthsAgo(38)}-28T23:59:59Z`, '9999-12-31', 'infinity'];
    for (const at of strange) await ask(`insert into audit_events (at, kind) values ($1, 'strange')`, [at]);
    await migrate(pool);
    expect(await ask(count)).toEqual(before);
    expect(await countStrays(pool)).toEqual({ strays: 6 });
  });

  it('is pruned by whole months, oldest first, and never the current month', async () => {
    const { months: gone } = await pruneAuditPartitions(pool, 36, { name: 'tests' });
    expect(gone.filter((month) => month > '2000')).toEqual([monthsAgo(38), monthsAgo(37)]);
    expect(await ask('select from audit_events where at < $1', [`${monthsAgo(36)}-01Z`])).toEqual([]);
    expect(await countStrays(pool)).toEqual({ strays: 3 });
    await expect(ask('delete from audit_events_rest')).rejects.toThrow(/append-only/);
    const { months: more } = await pruneAuditPartitions(pool, 1, { name: 'tests' });
    expect(more).not.toContain(new Date().toISOString().slice(0, 7));
    expect((await eventsOf('replayed')).length).toBe(3);
    const pruned = await ask(
      `select detail -> 'months' as months from audit_events
        where kind = 'trail_pruned' and operator = 'tests' and (detail ->> 'kept')::int = 36 order by at`,
    );
    expect(new Set(pruned.flatMap(({ months }) => months))).toEqual(new Set(gone));
  });
});

it('the day of last use of a client secret is recorded at an exchange, and only for the secret that was sent', async () => {
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
