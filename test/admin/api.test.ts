import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { useAdmin } from '../support/admin.ts';
import { newSecret } from '../support/ledger.ts';
import { createClient, createUser } from '../support/registrations.ts';

const admin = await useAdmin();
const { call, database } = admin;
const { pool } = database;

const SHOP = { name: 'Tea Shop', redirect_uri: 'https://shop.example/callback' };

const problem = (status: number, more: object) => ({ status, body: { status, ...more } });

describe('an application in the operators’ API', () => {
  it('can be created, changed, blocked and deleted, and its secret is shown once', async () => {
    const created = await call('POST /v1/clients', { ...SHOP, verified: true });
    const { client_id: id, client_secret: secret } = created.body;
    expect(created).toMatchObject({
      status: 201,
      body: { ...SHOP, verified: true, status: 'active', most: null },
    });
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    const most = { days: 30, sum: '5000' };
    const change = { most, allowed_rights: ['account-info'] };
    expect((await call(`PATCH /v1/clients/${id}`, change)).body).toMatchObject({ client_id: id, ...change });
    expect((await call(`POST /v1/clients/${id}/block`)).body).toEqual({ client_id: id, status: 'blocked' });
    const shown = await call(`GET /v1/clients/${id}`);
    expect(shown.body).toMatchObject({ ...SHOP, status: 'blocked', most });
    expect(JSON.stringify(shown.body)).not.toContain(secret);
    const { body } = await call(`DELETE /v1/clients/${id}`);
    expect(body).toMatchObject({ status: 409, rule: 'not_confirmed' });
    expect(body.detail).toContain('delete the application Tea Shop and revoke 0 authorizations');
    expect((await call(`GET /v1/clients/${id}`)).status).toBe(200);
    const deleted = await call(`DELETE /v1/clients/${id}?confirm=true`);
    expect(deleted.body).toEqual({ client_id: id, status: 'deleted', revoked: 0 });
    expect(await call(`GET /v1/clients/${id}`)).toMatchObject(problem(404, { rule: 'not_found' }));
  });

  it('is created once by concurrent requests with the same id', async () => {
    const asked = Array.from({ length: 50 }, () => call('POST /v1/clients', { ...SHOP, id: 'once' }));
    const refused = (await Promise.all(asked)).filter(({ status }) => status !== 201);
    const taken = problem(409, { rule: 'state', detail: 'the client id once is taken' });
    expect(refused).toMatchObject(Array.from({ length: 49 }, () => taken));
    const before = await call('GET /v1/clients/once');
    const other = { ...SHOP, name: 'Another Stall', verified: true, id: 'once' };
    expect(await call('POST /v1/clients', other)).toMatchObject(taken);
    expect((await call('GET /v1/clients/once')).body).toEqual(before.body);
  });
});

it('a user in the operators’ API can have an id at the provider, and then needs no password', async () => {
  const user = { login: 'vera', name: 'Vera', external_id: 'sub-42' };
  expect((await call('POST /v1/users', user)).status).toBe(201);
  const shown = (await call('GET /v1/users/vera')).body;
  expect(shown).toMatchObject(user);
  const { rows } = await pool.query('select password_hash from users where login = $1', ['vera']);
  expect(rows).toEqual([{ password_hash: null }]);
  const twin = { login: 'vera2', name: 'Vera', external_id: 'sub-42' };
  expect(await call('POST /v1/users', twin)).toMatchObject(problem(409, { rule: 'state' }));
  expect((await call('GET /v1/users/vera2')).status).toBe(404);
  const neither = await call('POST /v1/users', { login: 'vera3', name: 'Vera' });
  expect(neither).toMatchObject(problem(422, { field: 'password' }));
  const bad = await call('POST /v1/users', { ...twin, external_id: ' x' });
  expect(bad).toMatchObject(problem(422, { field: 'external_id' }));
});

describe('the operators’ API', () => {
  it('serves its document to any operator', async () => {
    const { operator_token } = (await call('POST /v1/operators', { name: 'reader', role: 'reads' })).body;
    const { status, body } = await call('GET /v1/openapi.json', undefined, operator_token);
    const written = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
    expect([status, body]).toEqual([200, JSON.parse(written)]);
  });

  it('says until when the feed is complete, which an open transaction holds back', async () => {
    const next = async (after: string) => (await call(`GET /v1/audit/next?after=${after}`)).body;
    const connection = await pool.connect();
    await connection.query('begin; select pg_current_xact_id()');
    const since = Date.now();
    let { cursor, complete_until: until } = (await call('GET /v1/audit/next')).body;
    for (let n = 0; n < 3; n += 1) ({ cursor, complete_until: until } = await next(cursor));
    expect(Date.parse(until)).toBeLessThan(since);
    await connection.query(
      `insert into audit_events (kind, reference) values ('signed_out', 'late'); commit`,
    );
    connection.release();
    const found: unknown[] = [];
    const isComplete = async () => {
      const part = await next(cursor);
      ({ cursor, complete_until: until } = part);
      found.push(...part.events);
      return Date.parse(until) > since;
    };
    await expect.poll(isComplete, { timeout: 30_000 }).toBe(true);
    expect(found).toContainEqual(expect.objectContaining({ reference: 'late' }));
  });

  it('returns the audit trail, at once or by a cursor, with the operator of each event', async () => {
    const { cursor } = (await call('GET /v1/audit/next')).body;
    const { clientId } = await createClient(pool);
    const { body } = await call('POST /v1/operators', { name: 'pipeline 7', role: 'changes', days: 1 });
    await call(`POST /v1/clients/${clientId}/block`, undefined, body.operator_token);
    const events = (await call(`GET /v1/audit?client_id=${clientId}&since=2026-01-01`)).body.items;
    expect(events).toMatchObject([
      { outcome: 'client_created', operator: 'tests' },
      { outcome: 'client_secret_added', operator: 'tests' },
      { outcome: 'client_blocked', operator: 'pipeline 7', client_id: clientId },
    ]);
    const read = async () => (await call(`GET /v1/audit/next?after=${cursor}`)).body.events;
    await expect.poll(read).toContainEqual(events[1]);
  });
});

describe('operators', () => {
  it('can be created with a token, listed without it, and retired [api-1]', async () => {
    const { status, body } = await call('POST /v1/operators', { name: 'crm', role: 'reads', days: 1 });
    const { operator_token: token, ...others } = body;
    expect([status, others]).toEqual([201, { name: 'crm', role: 'reads', expires_at: expect.any(String) }]);
    expect(token).toMatch(/^assent_op_[\w-]{43}$/);
    const listed = { name: 'crm', role: 'reads', last_used_on: expect.any(String), retired_at: null };
    expect((await call('GET /v1/operators', undefined, token)).body.items).toContainEqual(
      expect.objectContaining(listed),
    );
    expect((await call('DELETE /v1/operators/crm')).body.detail).toContain('retire the operator crm');
    const retired = { name: 'crm', status: 'retired' };
    expect((await call('DELETE /v1/operators/crm?confirm=true')).body).toEqual(retired);
    expect((await call('GET /v1/operators', undefined, token)).status).toBe(401);
    expect(await call('POST /v1/operators', { name: 'crm', role: 'reads' })).toMatchObject(
      problem(409, { rule: 'state' }),
    );
    expect((await call('DELETE /v1/operators/crm?confirm=true')).status).toBe(404);
  });

  it('have names that differ from each other, from those of commands, and from parts of a path', async () => {
    expect((await call('POST /v1/operators', { name: 'billing', role: 'reads' })).status).toBe(201);
    for (const name of ['Billing', 'bil1ing', 'Root', 'trial mode', '..'])
      expect(await call('POST /v1/operators', { name, role: 'reads' })).toMatchObject(
        problem(422, { rule: 'refused_value', field: 'name' }),
      );
    const { userId } = await createUser(pool, { login: 'zoe' });
    const refused = problem(422, { field: 'login' });
    const user = { login: '..', name: 'V', password: newSecret() };
    expect(await call('POST /v1/users', user)).toMatchObject(refused);
    expect(await call('PATCH /v1/users/zoe', { new_login: '..' })).toMatchObject(refused);
    expect((await call('GET /v1/users/zoe')).body.user_id).toBe(userId);
  });

  it('can’t give others a role or an expiry time beyond their own [api-2]', async () => {
    const token = await admin.tokenFor('changes', 10);
    const create = (role: string, days: number) =>
      call('POST /v1/operators', { name: `by another ${role} ${days}`, role, days }, token);
    expect(await create('destroys', 1)).toMatchObject(problem(403, { rule: 'not_permitted' }));
    const shorter = (await create('changes', 9)).body;
    const longer = (await create('reads', 365)).body;
    const { rows } = await pool.query(`select expires_at from operators where name = 'changes 2'`);
    expect(new Date(longer.expires_at)).toEqual(rows[0].expires_at);
    expect(Date.parse(shorter.expires_at)).toBeLessThan(Date.parse(longer.expires_at));
  });
});

describe('a list', () => {
  it.each([
    ['clients', 'client_id', { redirect_uri: 'https://a.example/' }],
    ['resources', 'resource_id', {}],
  ] as const)('is read by its key, and narrowed by name and status: %s', async (noun, key, more) => {
    for (const id of ['list-c', 'list-a', 'list-b'])
      await call(`POST /v1/${noun}`, { ...more, name: `${id} Kettle`, id });
    await call(`POST /v1/${noun}/list-b/block`);
    const idsOf = async (query: string) => {
      const { items, next } = (await call(`GET /v1/${noun}?name=kettle&${query}`)).body;
      return [items?.map((one: Record<string, string>) => one[key]), next];
    };
    expect(await idsOf('limit=2')).toEqual([['list-a', 'list-b'], 'list-b']);
    await call(`DELETE /v1/${noun}/list-b?confirm=true`); // the place of a deleted one is still a place
    expect(await idsOf('limit=2&after=list-b')).toEqual([['list-c'], null]);
    expect(await idsOf('status=blocked')).toEqual([[], null]);
    await call(`POST /v1/${noun}/list-a/block`);
    expect(await idsOf('status=blocked')).toEqual([['list-a'], null]);
    expect(await idsOf('status=gone')).toEqual([undefined, undefined]);
  });

  it('of operators has those that are active, expired or retired', async () => {
    for (const name of ['lamp 2', 'lamp 1', 'lamp 3'])
      await call('POST /v1/operators', { name, role: 'reads' });
    await call('DELETE /v1/operators/lamp%202?confirm=true');
    await pool.query(`update operators set expires_at = clock_timestamp() where name = 'lamp 3'`);
    const names = async (query: string) =>
      (await call(`GET /v1/operators?name=LAMP&${query}`)).body.items.map(
        ({ name }: { name: string }) => name,
      );
    expect(await names('limit=2')).toEqual(['lamp 1', 'lamp 2']);
    for (const [n, status] of ['active', 'retired', 'expired'].entries())
      expect(await names(`status=${status}`)).toEqual([`lamp ${n + 1}`]);
  });
});
