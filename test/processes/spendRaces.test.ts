import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished, vi } from 'vitest';
import * as clients from '../../src/operations/clients.ts';
import { perform } from '../../src/operations/operation.ts';
import * as users from '../../src/operations/users.ts';
import { openDatabase } from '../../src/store/database/database.ts';
import { actorsAt, press } from '../support/account.ts';
import { obtainToken } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { ownPool, useDatabase } from '../support/postgres/database.ts';
import { OwnPostgres } from '../support/postgres/ownPostgres.ts';
import { onDatabase, ownServer, spawnServer } from '../support/process/process.ts';
import { createClient, createResource, createUser } from '../support/registrations.ts';
import { type TestUser, useServer } from '../support/server.ts';

// Payments at two servers on one database, against each other and against what ends an authorization.

/** Rounds of parallel payments, and races with each end: `RACES=1000` for a long run. */
const RACES = Number(process.env.RACES || 10);
/** A user may not decide too often. */
const OF_ONE_USER = 10;
const LONG = { timeout: 240_000 + RACES * 1_000 }; // against hanging only

const database = await useDatabase();
const servers = await Promise.all(
  [1, 2].map(() =>
    useServer({ database: { ...database, pool: openDatabase(database.url) }, countsPayments: true }),
  ),
);
const [server] = servers as [(typeof servers)[0]];
const resource = await server.createResource();
const shop = await server.createClient();
const as = { db: database.pool, operator: { name: 'tests' }, confirm: async () => undefined };

let turn = 0;
/** A payment to any shop, at one of the servers in turn. @returns the verdict or the reason; `inactive` for a dead token */
async function pay(
  token: string,
  amount = '1',
  key: string = randomUUID(),
  at = '',
  authorization = resource,
): Promise<string> {
  const baseUrl = at || servers[turn++ % 2]?.baseUrl;
  const response = await fetch(`${baseUrl}/oauth/spend`, {
    method: 'POST',
    headers: { authorization },
    body: new URLSearchParams({ token, key, amount, currency: 'RUB', source: 'wallet', shop: '337' }),
  });
  if (response.status === 503) return pay(token, amount, key, at, authorization); // as an API does
  expect(response.status).toBe(200);
  const { active, verdict, reason } = (await response.json()) as Record<string, string>;
  return active ? (reason ?? verdict ?? '') : 'inactive';
}

const authorize = (user: TestUser, limit: string, client = shop, agent = new Agent(server.baseUrl)) =>
  obtainToken(agent, client, user, { scope: `payment-shop.limit(${limit})` });

const reservedOf = async ({ userId }: TestUser) =>
  (
    await database.pool.query(
      `select coalesce(sum(amount), 0)::float8 as sum, count(*)::int as count, max(paid_at) as last
         from payment_reservations join grants using (grant_id) where user_id = $1 and released_at is null`,
      [userId],
    )
  ).rows[0] as { sum: number; count: number; last: Date | null };

it('parallel payments never exceed the limit, and fill it [spend-2]', LONG, async () => {
  let user = await server.createUser({ paymentPassword: null });
  for (let round = 0; round < RACES; round += 1) {
    if (round % OF_ONE_USER === 0) user = await server.createUser({ paymentPassword: null });
    const most = 100 * (1 + (round % OF_ONE_USER));
    const token = await authorize(user, `7,${most}`);
    const verdicts = await Promise.all(
      Array.from({ length: 50 }, (_, index) => pay(token, index % 2 ? '7.01' : '3.33')),
    );
    expect(new Set(verdicts)).toEqual(new Set(['reserved', 'over_budget']));
    const { sum } = await reservedOf(user);
    expect(sum).toBeLessThanOrEqual(most);
    // Nothing that was refused fits when it is repeated alone.
    expect(await pay(token, String((most - sum + 0.01).toFixed(2)))).toBe('over_budget');
    expect(sum).toBeGreaterThan(most - 7.01);
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
  for (const key of answered) expect(await pay(token, '1', key)).toBe('reserved');
  const { count } = await reservedOf(user);
  // At most one more for each spender, whose answer was lost.
  expect(count - answered.size).toBeGreaterThanOrEqual(0);
  expect(count - answered.size).toBeLessThanOrEqual(5);
});

it('what is answered as reserved is there, once, after PostgreSQL was killed, and nothing above the limit', async () => {
  const postgres = new OwnPostgres();
  onTestFinished(() => postgres.remove());
  await postgres.start();
  const pool = ownPool(postgres.url());
  const variables = { ...onDatabase(postgres.url()), SPENDING: 'on' };
  const [one, other] = [await ownServer(variables), await ownServer(variables)];
  const [user, client] = [await createUser(pool, { paymentPassword: null }), await createClient(pool)];
  const authorization = await createResource(pool);
  const token = await authorize(user, '7,600', client, new Agent(one.baseUrl));
  const answered = new Set<string>();
  const spender = async (name: number) => {
    for (let [number, verdict] = [0, 'reserved']; verdict === 'reserved'; number += 1) {
      const key = `${name}-${number}`;
      verdict = await pay(token, '1', key, (number % 2 ? one : other).baseUrl, authorization);
      if (verdict === 'reserved') answered.add(key);
    }
  };
  const spenders = Promise.all(Array.from({ length: 8 }, (_, name) => spender(name)));
  for (const paid of [50, 150, 250]) {
    await vi.waitUntil(() => answered.size >= paid, { timeout: 100_000, interval: 5 });
    await postgres.kill('SIGKILL');
    await postgres.start();
  }
  await spenders;
  const { rows } = await pool.query('select key from payment_reservations order by key');
  // What got no answer was repeated until it did: the limit is full, and each payment in it was answered.
  expect(rows.map(({ key }) => key)).toEqual([...answered].sort());
  expect(rows).toHaveLength(600);
});

type Payer = Awaited<ReturnType<typeof actorsAt>> & { readonly token: string };

const again =
  (limit: string) =>
  ({ user, client, agent }: Payer) =>
    authorize(user, limit, client, agent);

const ENDS: Readonly<Record<string, readonly [kind: string, end: (payer: Payer) => Promise<unknown>]>> = {
  'the application’s revocation': [
    'revoked_by_application',
    ({ agent, token }) => agent.post('/api/revoke', {}, { authorization: `Bearer ${token}` }),
  ],
  'the user’s revocation': [
    'revoked_by_user',
    async ({ agent }) => press(agent, await agent.get('/oauth/account'), '/oauth/account/disconnect'),
  ],
  'a new authorization of the same rights': ['approved_again', again('7,1000000')],
  'a new authorization that lowers the limit': [
    'approved_again',
    async (payer) => expect(await pay(await again('7,1')(payer))).toBe('over_budget'),
  ],
  'the user’s block': ['user_blocked', ({ user }) => perform(users.block, as, { login: user.login })],
  'the application’s block': [
    'client_blocked',
    ({ client }) => perform(clients.block, as, { clientId: client.clientId }),
  ],
  'a deletion': ['user_deleted', ({ user }) => perform(users.remove, as, { login: user.login })],
};

it.each(Object.entries(ENDS))(
  'no payment is reserved after the answer of %s [spend-3]',
  LONG,
  async (_what, [kind, end]) => {
    const newActors = () => actorsAt(server, {}, { paymentPassword: null });
    let actors = await newActors();
    for (let race = 0; race < RACES; race += 1) {
      if (race % OF_ONE_USER === 0 || /blocked|deleted/.test(kind)) actors = await newActors();
      const { user, client, agent } = actors;
      const token = await authorize(user, '7,1000000', client, agent);
      let ended = false;
      const spender = async (): Promise<string> => {
        const wasEnded = ended;
        const verdict = await pay(token);
        return wasEnded ? verdict : spender();
      };
      const spenders = Promise.all([spender(), spender(), spender()]);
      expect(await pay(token)).toBe('reserved');
      await end({ ...actors, token });
      ended = true;
      expect(new Set(await spenders)).toEqual(new Set(['inactive']));
      // By PostgreSQL's clock, too: of a deleted user no payment is left.
      const { rows } = await database.pool.query(
        'select max(at) as at from audit_events where (user_id = $1 or client_id = $2) and kind = $3',
        [user.userId, client.clientId, kind],
      );
      const { last } = await reservedOf(user);
      if (kind === 'user_deleted') expect(last).toBeNull();
      else expect(last?.getTime()).toBeLessThanOrEqual(rows[0].at.getTime());
    }
  },
);
