import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../src/secrets/digest.ts';
import { deriveGrantId } from '../../src/secrets/tokens.ts';
import { type Approval, approveGrant } from '../../src/store/authorize/approvals.ts';
import { rejectGrant } from '../../src/store/authorize/rejections.ts';
import { openDatabase } from '../../src/store/database/database.ts';
import { codeOf, decide, requestOf } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { approvalOf } from '../support/http/samples.ts';
import { exchange, expectToken } from '../support/http/tokenRequests.ts';
import { setClientStatus } from '../support/operators.ts';
import { createDatabase } from '../support/postgres/database.ts';
import { intercept } from '../support/postgres/intercept.ts';
import { waitForLocks, whileHeld } from '../support/postgres/locks.ts';
import { startServer, type TestClient, type TestServer } from '../support/server.ts';

// Approvals of many users at one moment share statements, here and at a second server on the same database.

const MANY = 40;
const SPENDING = { scope: 'payment-shop.limit(7,1500)' };
const LOCK_USER = 'select from users where user_id = $1 for update';

const database = await createDatabase();
const second = openDatabase(database.url);
const serverOn = (pool: pg.Pool) =>
  startServer({ database: { ...database, pool: watched(pool) }, maxInstances: 3 });
const [server, replica] = [await serverOn(database.pool), await serverOn(second)];
let client: TestClient;
/** The outcome of each statement that approves: undefined for success, or its SQLSTATE. */
let statements: (string | undefined)[] = [];

afterAll(async () => {
  await server.close();
  await replica.close();
  await second.end();
  await database.drop();
});

beforeEach(async () => {
  client = await server.createClient();
  statements = [];
});

function watched(pool: pg.Pool): pg.Pool {
  return intercept(pool, async (statement, run) => {
    if (statement.name !== 'grant-approve') return run();
    const index = statements.push(undefined) - 1;
    return run().catch((error: { code?: string }) => {
      statements[index] = error.code ?? String(error);
      throw error;
    });
  });
}

type SignedIn = Readonly<Record<'userId' | 'cookie', string>>;

/** Signs users in, each in a browser, without a password. */
async function signIn(count: number): Promise<SignedIn[]> {
  const { rows } = await database.pool.query<SignedIn>(
    `with u as (
       insert into users (login, login_key, name, password_hash)
       select login, login, 'Test User', 'none' from (select gen_random_uuid()::text as login from generate_series(1, $1::int)) l
       returning user_id as "userId", md5(login) as cookie
     ), s as (
       insert into sessions (session_hash, user_id) select sha256(cookie::bytea), "userId" from u
     )
     select * from u`,
    [count],
  );
  return rows;
}

const one = async () => (await signIn(1))[0] as SignedIn;

function browserOf({ cookie }: SignedIn, { baseUrl }: TestServer): Agent {
  const agent = new Agent(baseUrl);
  agent.cookies.set('assent_session', cookie);
  return agent;
}

/** Opens a consent page for each. @returns functions that press Allow */
function openPages(users: readonly SignedIn[]) {
  return Promise.all(
    users.map(async (user) => {
      const request = new URLSearchParams(requestOf(client));
      const page = await browserOf(user, server).get(`/oauth/authorize?${request}`);
      expect(page.page).toBe('consent');
      return (at = server) => decide(browserOf(user, at), page, 'allow');
    }),
  );
}

async function approved(users: readonly SignedIn[]): Promise<string[]> {
  const { rows } = await database.pool.query<{ userId: string }>(
    `select user_id as "userId" from audit_events where kind like 'approved%' and user_id = any ($1) order by user_id`,
    [idsOf(users)],
  );
  return rows.map(({ userId }) => userId);
}

const idsOf = (users: readonly SignedIn[]) => users.map(({ userId }) => userId).toSorted();
const failed = () => statements.filter((outcome) => outcome !== undefined);

describe('concurrent approvals', () => {
  it('of many users return one valid code each, despite double clicks at two servers', async () => {
    const users = await signIn(MANY);
    const pages = await openPages(users);
    const clicks = [...pages, ...pages].map((allow) => allow());
    const there = pages.toReversed().map((allow) => allow(replica));
    const codes = (await Promise.all([...clicks, ...there.toReversed()])).map(codeOf);
    const each = codes.slice(0, MANY);
    expect(codes).toEqual([...each, ...each, ...each]);
    expect(new Set(each).size).toBe(MANY);
    expect(await approved(users)).toEqual(idsOf(users));
    expect(failed()).toEqual([]);
    const tokens = await Promise.all(each.map((code) => exchange(server, client, code)));
    tokens.forEach(expectToken);
  });

  it('and rejections in many tabs of one session don’t deadlock at two servers', async () => {
    const user = await one();
    const { userId, cookie } = user;
    await database.pool.query(`update users set payment_password_hash = 'hash' where user_id = $1`, [userId]);
    const proof = { by: 'payment_password', hash: 'hash' } as const;
    // The many wait for each other, on a busy machine longer than a request may.
    const decideBy = performance.now() + 60_000;
    const decided = {
      ...approvalOf(client, user),
      ...SPENDING,
      sessionHash: sha256(cookie),
      proof,
      decideBy,
    };
    const tab = async (instanceName: string, pool: pg.Pool) => {
      const grantId = deriveGrantId(userId, client.clientId, instanceName);
      for (let revision = 0; revision < 40; revision += 1) {
        const page = sha256(`${instanceName} ${revision}`);
        const decision = { ...decided, instanceName, grantId, revision, page, codeHash: page };
        expect(await approveGrant(pool, decision)).toBe('written');
        const other = { page: sha256(page), codeHash: sha256(page), keptUntil: new Date() };
        expect(await rejectGrant(pool, { ...decision, ...other })).toBe('rejected');
      }
    };
    const tabs = Array.from({ length: 12 }, (_, n) => tab(`tab ${n}`, n % 2 === 0 ? database.pool : second));
    await Promise.all(tabs);
  });
});

describe('approvals of many users', () => {
  const set = (change: string, { userId }: SignedIn) =>
    database.pool.query(`update ${change} where user_id = $1`, [userId]);

  function approvalBy({ userId, cookie }: SignedIn, given: Partial<Approval> = {}): Approval {
    const { instanceName = null, clientId = client.clientId } = given;
    return {
      ...approvalOf(client, { userId }),
      grantId: deriveGrantId(userId, clientId, instanceName),
      sessionHash: sha256(cookie),
      page: sha256(`page of ${userId}`),
      codeHash: sha256(randomBytes(8).toString('hex')),
      ...given,
    };
  }

  const ask = (approvals: readonly Approval[], by = database.pool) => {
    const pool = watched(by);
    return Promise.all(approvals.map((approval) => approveGrant(pool, approval)));
  };

  it('never deadlock when two servers receive them in different order', async () => {
    const users = await signIn(MANY);
    const approvals = users.map((user) => approvalBy(user));
    // Each statement waits for this user, and has locked the users before it in its own order.
    const verdicts = await whileHeld(database.pool, LOCK_USER, [idsOf(users)[MANY / 2]], async () => {
      const both = [ask(approvals), ask(approvals.toReversed(), second)];
      await waitForLocks(database.pool, both.length);
      return both;
    });
    expect(new Set((await Promise.all(verdicts)).flat())).toEqual(new Set(['written']));
    expect(await approved(users)).toHaveLength(MANY);
    expect(failed()).toEqual([]);
  });

  it('fail separately in a shared SQL statement, each for its own reason', async () => {
    const [well, blocked, shop, ended, busy, full] = await Promise.all([
      one(),
      one(),
      one(),
      one(),
      one(),
      one(),
    ]);
    const [stale, spent, again, unproven, rejected] = await Promise.all([one(), one(), one(), one(), one()]);
    const closed = await server.createClient();
    const [isSpent, isThere, isRejected] = [approvalBy(spent), approvalBy(again), approvalBy(rejected)];
    await ask([isSpent, isThere, approvalBy(full, { instanceName: 'first' })]);
    await rejectGrant(database.pool, { ...isRejected, keptUntil: new Date() });
    await set(`users set status = 'blocked'`, blocked);
    await setClientStatus(database.pool, closed.clientId, 'blocked', 'tests');
    await set(`sessions set seen_at = seen_at - interval '1 hour'`, ended);
    await set('users set decisions = 1001', busy);
    await set('grants set code_expires_at = confirmed_at', spent);
    const before = await approved([full, spent, again]);
    statements = [];
    const asked: [Approval, string][] = [
      [approvalBy(well), 'written'],
      [approvalBy(blocked), 'blocked'],
      [approvalBy(shop, { clientId: closed.clientId }), 'blocked'],
      [approvalBy(ended), 'ended'],
      [approvalBy(busy), 'too_many'],
      [approvalBy(full, { instanceName: 'second', maxInstances: 1 }), 'full'],
      [approvalBy(stale, { revision: 1 }), 'stale'],
      [isSpent, 'spent'],
      [isThere, 'written'],
      [approvalBy(unproven, { ...SPENDING, confirmsPayments: true }), 'stale'],
      [isRejected, 'rejected'],
    ];
    expect(await ask(asked.map(([approval]) => approval))).toEqual(asked.map(([, verdict]) => verdict));
    expect(statements).toHaveLength(1);
    expect(await approved([well])).toHaveLength(1);
    expect(await approved([full, spent, again])).toEqual(before);
    expect(await approved([blocked, shop, ended, busy, stale, unproven, rejected])).toEqual([]);
  });
});
