import { randomUUID } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { openDatabase } from '../../src/store/database/database.ts';
import { obtainToken } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { useDatabase } from '../support/postgres/database.ts';
import { commandsOf } from '../support/process/commands.ts';
import { onDatabase, spawnServer } from '../support/process/process.ts';
import { type TestUser, useServer } from '../support/server.ts';

// Payments at two servers on one database, against each other and against what ends an authorization.

const database = await useDatabase();
const servers = await Promise.all(
  [1, 2].map(() =>
    useServer({ database: { ...database, pool: openDatabase(database.url) }, countsPayments: true }),
  ),
);
const [server] = servers as [(typeof servers)[0]];
const resource = await server.createResource();
const client = await server.createClient();
const { json } = commandsOf(database);

let turn = 0;
/** A payment to any shop, at one of the servers in turn. @returns the verdict or the reason; `inactive` for a dead token */
async function pay(token: string, amount = '1', key: string = randomUUID(), at = ''): Promise<string> {
  turn += 1;
  const baseUrl = at || servers[turn % 2]?.baseUrl;
  const response = await fetch(`${baseUrl}/oauth/spend`, {
    method: 'POST',
    headers: { authorization: resource },
    body: new URLSearchParams({ token, key, amount, currency: 'RUB', source: 'wallet', shop: '337' }),
  });
  expect(response.status).toBe(200);
  const { active, verdict, reason } = (await response.json()) as Record<string, string>;
  return active ? (reason ?? verdict ?? '') : 'inactive';
}

const authorize = (user: TestUser, limit: string) =>
  obtainToken(new Agent(server.baseUrl), client, user, { scope: `payment-shop.limit(${limit})` });

const reservedOf = async ({ userId }: TestUser) =>
  (
    await database.pool.query(
      `select coalesce(sum(amount), 0)::float8 as sum, count(*)::int as count, max(paid_at) as last
         from payment_reservations join grants using (grant_id) where user_id = $1 and released_at is null`,
      [userId],
    )
  ).rows[0] as { sum: number; count: number; last: Date | null };

it('parallel payments never exceed the limit, and fill it [spend-2]', async () => {
  const user = await server.createUser({ paymentPassword: null });
  for (let round = 1; round <= 10; round += 1) {
    const token = await authorize(user, `7,${round * 100}`);
    const verdicts = await Promise.all(
      Array.from({ length: 50 }, (_, index) => pay(token, index % 2 ? '7.01' : '3.33')),
    );
    expect(new Set(verdicts)).toEqual(new Set(['reserved', 'over_budget']));
    const { sum } = await reservedOf(user);
    expect(sum).toBeLessThanOrEqual(round * 100);
    // Nothing that was refused fits when it is repeated alone.
    expect(await pay(token, String((round * 100 - sum + 0.01).toFixed(2)))).toBe('over_budget');
    expect(sum).toBeGreaterThan(round * 100 - 7.01);
  }
});

it('many requests with one key reserve one payment', async () => {
  const user = await server.createUser({ paymentPassword: null });
  const token = await authorize(user, '7,100');
  const verdicts = await Promise.all(Array.from({ length: 40 }, () => pay(token, '30', 'one')));
  expect(new Set(verdicts)).toEqual(new Set(['reserved']));
  expect(await reservedOf(user)).toMatchObject({ sum: 30, count: 1 });
});

it('what a killed server has answered as reserved is there, once', async () => {
  const user = await server.createUser({ paymentPassword: null });
  const token = await authorize(user, '7,1000000');
  const killed = await spawnServer({ ...onDatabase(database.url), SPENDING: 'on' });
  const answered = new Set<string>();
  const spender = async (name: number) => {
    for (let number = 0; ; number += 1) {
      const key = `${name}-${number}`;
      expect(await pay(token, '1', key, killed.baseUrl)).toBe('reserved');
      answered.add(key);
    }
  };
  const spenders = Promise.allSettled(Array.from({ length: 5 }, (_, name) => spender(name)));
  await vi.waitUntil(() => answered.size > 50, { timeout: 60_000 });
  await killed.stop('SIGKILL');
  await spenders;
  const { count } = await reservedOf(user);
  // At most one more for each spender, whose answer was lost.
  expect(count - answered.size).toBeGreaterThanOrEqual(0);
  expect(count - answered.size).toBeLessThanOrEqual(5);
  for (const key of answered) expect(await pay(token, '1', key)).toBe('reserved');
  expect((await reservedOf(user)).count).toBe(count);
});

type End = (user: TestUser, token: string) => Promise<unknown>;

const ENDS: readonly (readonly [what: string, end: End, kind: string])[] = [
  [
    'the application’s revocation',
    (_, token) => new Agent(server.baseUrl).post('/api/revoke', {}, { authorization: `Bearer ${token}` }),
    'revoked_by_application',
  ],
  ['a new authorization', (user) => authorize(user, '7,900'), 'approved_again'],
  ['the user’s block', ({ login }) => json(`user block ${login}`), 'user_blocked'],
  ['a deletion', ({ login }) => json(`user delete ${login} --yes`), 'user_deleted'],
];

it.each(ENDS)('no payment is reserved after the answer of %s [spend-3]', async (_what, end, kind) => {
  const user = await server.createUser({ paymentPassword: null });
  const token = await authorize(user, '7,1000000');
  let ended = false;
  const late: string[] = [];
  const spender = async () => {
    for (let after = 0; after < 3; ) {
      const wasEnded = ended;
      const verdict = await pay(token);
      if (wasEnded) {
        after += 1;
        late.push(verdict);
      }
    }
  };
  const spenders = Promise.all(Array.from({ length: 6 }, spender));
  await expect.poll(async () => (await reservedOf(user)).count).toBeGreaterThan(20);
  await end(user, token);
  ended = true;
  await spenders;
  expect(new Set(late)).toEqual(new Set(['inactive']));
  // By PostgreSQL's clock, too: of a deleted user no payment is left.
  const { rows } = await database.pool.query(
    'select max(at) as at from audit_events where user_id = $1 and kind = $2',
    [user.userId, kind],
  );
  const { last } = await reservedOf(user);
  if (kind === 'user_deleted') expect(last).toBeNull();
  else expect(last?.getTime()).toBeLessThanOrEqual(rows[0].at.getTime());
});

it('no payment is reserved after the answer of the application’s block', async () => {
  const user = await server.createUser({ paymentPassword: null });
  const token = await authorize(user, '7,1000000');
  const spending = Promise.all(Array.from({ length: 30 }, () => pay(token)));
  await json(`client block ${client.clientId}`);
  expect(await pay(token)).toBe('inactive');
  await spending;
  const { rows } = await database.pool.query(
    `select max(at) as at from audit_events where kind = 'client_blocked'`,
  );
  const { last } = await reservedOf(user);
  expect((last ?? new Date(0)).getTime()).toBeLessThanOrEqual(rows[0].at.getTime());
});
