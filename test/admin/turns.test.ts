import { describe, expect, it, onTestFinished } from 'vitest';
import { insertGrants } from '../support/account.ts';
import { callAt, openAdmin, operatorToken, useAdmin } from '../support/admin.ts';
import { ownDatabase, ownPool } from '../support/postgres/database.ts';
import { waitForLocks, whileHeld } from '../support/postgres/locks.ts';
import { createClient, createUser } from '../support/registrations.ts';

const admin = await useAdmin();
const { call, tokenFor } = admin;
const { pool } = admin.database;

const SHOP = { redirect_uri: 'https://shop.example/' };

it('operations refused while waiting are not carried out later', async () => {
  const create = (_: unknown, n: number) =>
    call('POST /v1/clients', { id: `c${n}`, name: `Shop ${n}`, ...SHOP });
  const answers = await whileHeld(pool, 'lock table clients', [], () =>
    Promise.all(Array.from({ length: 30 }, create)),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  expect(answers.map(({ body }) => body.rule)).toContain('overload');
  for (const { headers } of answers) expect(headers.get('retry-after')).toBe('5');
  expect((await create(undefined, 31)).status).toBe(201);
  const { rowCount } = await pool.query('select from clients');
  expect(rowCount).toBeLessThanOrEqual(1 + 2); // the last one, and those that had begun
});

it('while one operator’s hundred lists wait, another one lists, and both change something', async () => {
  const [script, other] = [await tokenFor('changes'), await tokenFor('changes')];
  const { lists } = await whileHeld(pool, 'lock table users', [], async () => {
    const lists = Array.from({ length: 100 }, () => call('GET /v1/users', undefined, script));
    await waitForLocks(pool, 1); // one of them has its turn
    for (const [token, what, status] of [
      [other, 'GET /v1/clients', 200],
      [other, 'POST /v1/clients', 201],
      [script, 'POST /v1/clients', 201],
    ] as const) {
      const body = what.startsWith('POST') ? { name: 'Shop', ...SHOP } : undefined;
      expect((await call(what, body, token)).status).toBe(status);
    }
    await waitForLocks(pool, 1);
    return { lists };
  });
  await Promise.all(lists);
});

describe('a list whose statement takes too long', () => {
  it('is answered 503, and its statement ends in PostgreSQL', async () => {
    const own = await ownDatabase();
    const url = await openAdmin(ownPool(own.url), [], onTestFinished);
    const token = await operatorToken(own.pool, 'reader', 'reads', 1);
    await createUser(own.pool);
    await own.pool.query('alter table users rename to others');
    await own.pool.query('create view users as select * from others where pg_sleep(60)::text is not null');
    const list = () => callAt(url, 'GET /v1/users', undefined, token);
    const answers = await Promise.all([list(), list(), list()]);
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
    const { rows } = await own.pool.query(
      `select query from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`,
    );
    expect(rows).toEqual([]);
    expect((await callAt(url, 'GET /v1/clients', undefined, token)).status).toBe(200);
  });

  it('is not begun if its caller has left', async () => {
    const token = await tokenFor('reads');
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${token}` };
    await whileHeld(pool, 'lock table users', [], async () => {
      const lists = Array.from({ length: 50 }, () =>
        fetch(`${admin.url}/v1/users`, { headers, signal: leaving.signal }).catch(() => null),
      );
      await waitForLocks(pool, 1);
      leaving.abort();
      await Promise.all(lists);
      // Its own next request waits only for the list that had begun.
      expect((await call('GET /v1/clients', undefined, token)).status).toBe(200);
    });
  });
});

it('deletions of large applications leave turns to other operators, between their batches', async () => {
  const user = await createUser(pool);
  const remove = async () => {
    const [client, token] = [await createClient(pool), await tokenFor('destroys')];
    await insertGrants(admin, { user, client, count: 10_500 });
    return call(`DELETE /v1/clients/${client.clientId}?confirm=true`, undefined, token);
  };
  const removing = [remove(), remove()];
  const statuses = async () => (await pool.query(`select status from clients where name = 'Test Shop'`)).rows;
  await expect.poll(statuses, { interval: 5 }).toEqual([{ status: 'blocked' }, { status: 'blocked' }]);
  expect((await call('POST /v1/clients', { id: 'meanwhile', name: 'Shop', ...SHOP })).status).toBe(201);
  expect(await statuses()).toHaveLength(2); // neither is done
  const answers = await Promise.all(removing);
  for (const { status } of answers) expect([200, 503]).toContain(status);
  await expect.poll(statuses, { timeout: 60_000 }).toEqual([]);
  const { rows } = await pool.query(
    `select count(*)::int from audit_events where kind = 'revoked_by_operator' and user_id = $1`,
    [user.userId],
  );
  expect(rows).toEqual([{ count: 21_000 }]);
});
