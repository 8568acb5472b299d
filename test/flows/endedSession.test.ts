import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../src/store/database/database.ts';
import { copyOf, press } from '../support/account.ts';
import { Agent } from '../support/agent.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { decide, reachConsent, requestOf } from '../support/flow.ts';
import { type Line, openLine } from '../support/line.ts';
import { waitForLocks } from '../support/locks.ts';
import { setPasswords, setUserStatus, signOutUser } from '../support/operators.ts';
import { startServer, type TestServer, type TestUser } from '../support/server.ts';

// A decision is read while its session stands, and written a moment later: by then the session may be over, and whoever
// ended it has been told so.

/** Its statements can be held back on their way to PostgreSQL. */
let slow: TestServer;
let other: TestServer;
let line: Line;
let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  line = await openLine();
  database = await createDatabase();
  pool = openDatabase(line.url(database));
  slow = await startServer({ database: { ...database, pool } });
  other = await startServer({ database });
});

afterAll(async () => {
  await slow?.close();
  await other?.close();
  await pool?.end();
  line?.close();
  await database?.drop();
});

const age = (what: string) => (_agent: Agent, user: TestUser) =>
  database.pool.query(`update sessions set ${what} where user_id = $1`, [user.userId]);

const ENDINGS: Record<string, (agent: Agent, user: TestUser) => Promise<unknown>> = {
  async 'the user signed out'(agent) {
    const elsewhere = copyOf(agent, other.baseUrl);
    await press(elsewhere, await elsewhere.get('/account'), '/sign-out');
  },
  'the operator signed the user out': (_agent, { login }) => signOutUser(database.pool, login, 'tests'),
  'there is a new password': (_agent, { login }) =>
    setPasswords(database.pool, login, { password: 'another password', paymentPassword: null }, 'tests'),
  'it was not used for half an hour': age(`seen_at = seen_at - interval '31 minutes'`),
  'it is 12 hours old': age(`created_at = created_at - interval '13 hours'`),
};

async function writtenOf({ userId }: TestUser): Promise<number> {
  const written =
    'select from grants where user_id = $1 union all select from audit_events where user_id = $1 and grant_id is not null';
  return (await database.pool.query(written, [userId])).rowCount ?? -1;
}

async function consentOf() {
  const [client, user] = [await other.createClient(), await other.createUser({ paymentPassword: null })];
  const agent = new Agent(slow.baseUrl);
  return { agent, user, consent: await reachConsent(agent, requestOf(client), user) };
}

describe.each(['allow', 'reject'] as const)('a decision to %s that gets to the database', (decision) => {
  it.each(Object.keys(ENDINGS))('when %s writes nothing, and the request is shown again', async (ending) => {
    const { agent, user, consent } = await consentOf();
    line.holdBack(['grant-approve', 'grant-reject']);
    const asked = decide(agent, consent, decision);
    await vi.waitFor(() => expect(line.held()).toBe(1), { timeout: 60_000 });
    await ENDINGS[ending]?.(agent, user);
    await line.letThrough();
    const answer = await asked;
    expect([answer.status, answer.location?.startsWith(`${slow.baseUrl}/oauth/authorize?`)]).toEqual([
      303,
      true,
    ]);
    expect((await agent.get(answer.location ?? '')).page).toBe('sign-in');
    expect(await writtenOf(user)).toBe(0);
  });

  it('when the user is blocked writes nothing', async () => {
    const { agent, user, consent } = await consentOf();
    line.holdBack(['grant-approve', 'grant-reject']);
    const asked = decide(agent, consent, decision);
    await vi.waitFor(() => expect(line.held()).toBe(1), { timeout: 60_000 });
    await setUserStatus(database.pool, user.login, 'blocked', 'tests');
    await line.letThrough();
    expect((await asked).location ?? '').not.toMatch(/^http:..127.0.0.1:9/);
    expect(await writtenOf(user)).toBe(0);
  });

  it('while the user is signing out waits for that, and writes nothing', async () => {
    const { agent, user, consent } = await consentOf();
    const leaving = await database.pool.connect();
    try {
      await leaving.query('begin');
      await leaving.query('delete from sessions where user_id = $1', [user.userId]);
      const asked = decide(agent, consent, decision);
      await waitForLocks(database.pool, 1);
      await leaving.query('commit');
      expect((await asked).status).toBe(303);
    } finally {
      leaving.release();
    }
    expect(await writtenOf(user)).toBe(0);
  });
});
