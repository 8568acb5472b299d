import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { revokeAll } from '../../src/flows/account/disconnect.ts';
import { revokeByBearer } from '../../src/flows/token/revoke.ts';
import { type Digest, sha256 } from '../../src/secrets/digest.ts';
import { parseToken } from '../../src/secrets/tokens.ts';
import { insertSession } from '../../src/store/common/sessions.ts';
import { openDatabase } from '../../src/store/database/database.ts';
import { TooLateError } from '../../src/store/database/errors.ts';
import { type ExchangeRequest, exchangeCode } from '../../src/store/token/exchanges.ts';
import { revokeGrants } from '../../src/store/token/revocations.ts';
import { actorsAt, copyOf, fieldsFor } from '../support/account.ts';
import { Agent, type Answer } from '../support/agent.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import {
  decide,
  introspect,
  obtainCode,
  obtainToken,
  reachConsent,
  requestOf,
  signIn,
  tokenRequestOf,
} from '../support/flow.ts';
import { type Line, openLine } from '../support/line.ts';
import { waitForLocks, whileHeld } from '../support/locks.ts';
import { CALLER, startServer, type TestClient, type TestServer, type TestUser } from '../support/server.ts';

// 503 means "not done". A statement whose caller was told so may still be on its way, and get through when the caller
// has done something else by way of another replica: then it must do nothing.

/** Its statements can be held back on their way to PostgreSQL. */
let slow: TestServer;
let other: TestServer;
let line: Line;
let database: TestDatabase;
let pool: pg.Pool;
let resource: string;

beforeAll(async () => {
  line = await openLine();
  database = await createDatabase();
  pool = openDatabase(line.url(database));
  slow = await startServer({ database: { ...database, pool } });
  other = await startServer({ database });
  resource = await other.createResource();
});

afterAll(async () => {
  await slow?.close();
  await other?.close();
  await pool?.end();
  line?.close();
  await database?.drop();
});

/** A browser that goes on at the other replica, signed in as before. */
const elsewhere = (agent: Agent) => copyOf(agent, other.baseUrl);

async function rows(text: string, value: string): Promise<number> {
  return (await database.pool.query(text, [value])).rowCount ?? 0;
}

const isLive = async (token: string) => (await introspect(other, resource, token)).active;

/** What is asked while its statement is held back, and what is to be true when that has got through. */
interface Late {
  ask(): Promise<unknown>;
  /** What is done by way of the other replica meanwhile. */
  meanwhile?(): Promise<void>;
  expectNothingDone(): Promise<void>;
}

type Setting = { agent: Agent; client: TestClient; user: TestUser };

const STATEMENTS: Record<string, (setting: Setting) => Promise<Late>> = {
  async 'grant-exchange'({ agent, client, user }) {
    const code = await obtainCode(agent, requestOf(client), user);
    let token = '';
    return {
      ask: () => agent.post('/oauth/token', tokenRequestOf(client, code)),
      async meanwhile() {
        const answer = await elsewhere(agent).post('/oauth/token', tokenRequestOf(client, code));
        token = JSON.parse(answer.body).access_token;
      },
      async expectNothingDone() {
        expect(await isLive(token)).toBe(true);
      },
    };
  },

  async 'grant-approve'({ agent, client, user }) {
    const consent = await reachConsent(agent, requestOf(client), user);
    return {
      ask: () => decide(agent, consent, 'allow'),
      async meanwhile() {
        const rejected = await decide(elsewhere(agent), consent, 'reject');
        expect(rejected.location).toContain('error=access_denied');
      },
      async expectNothingDone() {
        expect(await rows('select from grants where user_id = $1', user.userId)).toBe(0);
      },
    };
  },

  async 'grant-reject'({ agent, client, user }) {
    const consent = await reachConsent(agent, requestOf(client), user);
    return {
      ask: () => decide(agent, consent, 'reject'),
      async expectNothingDone() {
        expect(
          await rows(`select from audit_events where user_id = $1 and kind = 'rejected'`, user.userId),
        ).toBe(0);
      },
    };
  },

  async 'grant-revoke-of-user'({ agent, client, user }) {
    await obtainToken(agent, client, user);
    const fields = fieldsFor(await agent.get('/account'), '/account/disconnect');
    let token = '';
    return {
      ask: () => agent.post('/account/disconnect', fields),
      async meanwhile() {
        token = await obtainToken(elsewhere(agent), client, user);
      },
      async expectNothingDone() {
        expect(await isLive(token)).toBe(true);
      },
    };
  },

  async 'grant-revoke-all-of-user'({ agent, client, user }) {
    for (const instance_name of ['one', 'two']) await obtainToken(agent, client, user, { instance_name });
    const fields = fieldsFor(await agent.get('/account'), '/account/disconnect-all');
    let token = '';
    return {
      ask: () => agent.post('/account/disconnect-all', fields),
      async meanwhile() {
        token = await obtainToken(elsewhere(agent), client, user, { instance_name: 'one' });
      },
      async expectNothingDone() {
        expect(await isLive(token)).toBe(true);
      },
    };
  },

  async 'grant-revoke-by-token'({ agent, client, user }) {
    const token = await obtainToken(agent, client, user);
    const credentials = { client_id: client.clientId, client_secret: client.clientSecret ?? '' };
    return {
      ask: () => agent.post('/oauth/revoke', { token, ...credentials }),
      async expectNothingDone() {
        expect(await isLive(token)).toBe(true);
      },
    };
  },

  async 'grant-revoke-by-operator'({ agent, client, user }) {
    const token = await obtainToken(agent, client, user);
    const { rows: grants } = await database.pool.query('select grant_id from grants where user_id = $1', [
      user.userId,
    ]);
    return {
      ask: () => revokeGrants(pool, { grantIds: [grants[0]?.grant_id], operator: 'tests', ...CALLER }),
      async expectNothingDone() {
        expect(await isLive(token)).toBe(true);
      },
    };
  },

  async 'session-insert'({ agent, user }) {
    const page = await agent.get('/account');
    return {
      ask: () => agent.submit(page, 'login', { login: user.login, password: user.password }),
      async expectNothingDone() {
        expect(await rows('select from sessions where user_id = $1', user.userId)).toBe(0);
      },
    };
  },

  async 'session-mark-confirmed'({ agent, client, user }) {
    await reachConsent(agent, requestOf(client), user);
    const spending = new URLSearchParams(requestOf(client, { scope: 'payment-shop' }));
    const page = await agent.get(`/oauth/authorize?${spending}`);
    return {
      ask: () => agent.submit(page, 'payment_password', { payment_password: user.paymentPassword ?? '' }),
      async expectNothingDone() {
        const confirmed = 'select from sessions where user_id = $1 and confirmed_at is not null';
        expect(await rows(confirmed, user.userId)).toBe(0);
      },
    };
  },
};

describe('a statement that waits for a lock until its caller was told 503', () => {
  /** Asks with a deadline that passes while somebody holds the lock. */
  async function askLate<Answer>(lock: string, ask: (decideBy: number) => Promise<Answer>): Promise<unknown> {
    const [answer] = await whileHeld(database.pool, lock, [], async () => {
      const decideBy = performance.now() + 300;
      const answer = ask(decideBy).catch((error: unknown) => error);
      await waitForLocks(database.pool, 1);
      await vi.waitUntil(() => performance.now() > decideBy);
      return [answer];
    });
    return answer;
  }

  it('does nothing: a revocation, whose grant is locked', async () => {
    const [client, user] = [await other.createClient(), await other.createUser()];
    const token = await obtainToken(new Agent(other.baseUrl), client, user);
    const { rows: grants } = await database.pool.query('select grant_id from grants where user_id = $1', [
      user.userId,
    ]);
    const id = grants[0]?.grant_id;
    const lock = `select from grants where grant_id = '${id}' for update`;
    const answer = await askLate(lock, (decideBy) =>
      revokeGrants(database.pool, { grantIds: [id], operator: 'tests', decideBy }),
    );
    expect(answer).toBeInstanceOf(TooLateError);
    expect(await isLive(token)).toBe(true);
  });

  it('does nothing: a token given back, whose grant is locked', async () => {
    const [client, user] = [await other.createClient(), await other.createUser()];
    const token = await obtainToken(new Agent(other.baseUrl), client, user);
    const lock = `select from grants where user_id = '${user.userId}' for update`;
    const answer = await askLate(lock, (decideBy) =>
      revokeByBearer(other.context, token, { ...CALLER, decideBy }),
    );
    expect(answer).toBeInstanceOf(TooLateError);
    expect(await isLive(token)).toBe(true);
  });

  it('does nothing: a sign-in, whose earlier session is locked', async () => {
    const user = await other.createUser();
    const agent = new Agent(other.baseUrl);
    await signIn(agent, user.login, user.password);
    const { rows: found } = await database.pool.query<{ hash: Digest; password: string }>(
      `select s.session_hash as hash, u.password_hash as password
         from sessions s join users u using (user_id) where user_id = $1`,
      [user.userId],
    );
    const session = {
      sessionHash: sha256('another cookie'),
      userId: user.userId,
      passwordHash: found[0]?.password ?? '',
      earlierHash: found[0]?.hash ?? null,
      ...{ browser: null, system: null, network: null, knownDevice: false },
    };
    const lock = `select from sessions where user_id = '${user.userId}' for update`;
    const answer = await askLate(lock, (decideBy) =>
      insertSession(database.pool, { ...session, ...CALLER, decideBy }),
    );
    expect(answer).toBeInstanceOf(TooLateError);
    expect((await agent.get('/account')).page).toBe('account');
  });
});

/** Token requests that would be granted. */
async function twoExchanges(): Promise<[ExchangeRequest, ExchangeRequest]> {
  const client = await other.createClient();
  const codes = await Promise.all(
    [0, 1].map(async () => {
      const user = await other.createUser();
      return parseToken('code', await obtainCode(new Agent(other.baseUrl), requestOf(client), user));
    }),
  );
  return codes.map(({ grantId, hash }, index) => ({
    grantId,
    codeHash: hash,
    clientId: client.clientId,
    secretHash: sha256(client.clientSecret ?? ''),
    redirectUri: client.redirectUri,
    challenge: null,
    tokenHash: sha256(`token ${index}`),
    caller: CALLER,
  })) as [ExchangeRequest, ExchangeRequest];
}

it('an exchange that was carried out is answered, although another of its batch came too late', async () => {
  const [first, second] = await twoExchanges();
  expect(await exchangeCode(database.pool, first)).toMatchObject({ verdict: 'issued' });
  const late = { ...CALLER, decideBy: performance.now() };
  const answers = await Promise.allSettled(
    [first, second].map((request) => exchangeCode(database.pool, { ...request, caller: late })),
  );
  expect(answers).toMatchObject([{ value: { verdict: 'issued' } }, { reason: expect.any(TooLateError) }]);
  expect(await exchangeCode(database.pool, second)).toMatchObject({ verdict: 'issued' });
});

it('an exchange has no more time for being in a batch with others', async () => {
  const [first, second] = await twoExchanges();
  const late = { ...first, caller: { ...CALLER, decideBy: performance.now() } };
  const [answer] = await Promise.allSettled(
    [late, second].map((request) => exchangeCode(database.pool, request)),
  );
  expect(answer).toMatchObject({ reason: expect.any(TooLateError) });
  expect(await exchangeCode(database.pool, first)).toMatchObject({ verdict: 'issued' });
});

it('disconnecting all is no success where its time was over before the first authorization', async () => {
  const { client, user, agent } = await actorsAt(other);
  const token = await obtainToken(agent, client, user);
  const late = { ...CALLER, decideBy: performance.now() };
  await expect(revokeAll(other.context, user.userId, client.clientId, late)).rejects.toThrow(TooLateError);
  expect(await isLive(token)).toBe(true);
});

describe('a statement that gets through after its caller was told 503', () => {
  const cases: Record<string, Late> = {};
  const answers: Record<string, unknown> = {};

  // All at once: each is told 503 only after some seconds.
  beforeAll(async () => {
    for (const [name, prepare] of Object.entries(STATEMENTS)) {
      const setting = {
        agent: new Agent(slow.baseUrl),
        client: await other.createClient(),
        user: await other.createUser(),
      };
      cases[name] = await prepare(setting);
    }
    line.holdBack(Object.keys(STATEMENTS));
    const asked = Object.entries(cases).map(async ([name, { ask }]) => {
      answers[name] = await ask().catch((error: unknown) => error);
    });
    await vi.waitFor(() => expect(line.held()).toBe(asked.length), { timeout: 60_000 });
    for (const { meanwhile } of Object.values(cases)) await meanwhile?.();
    await Promise.all(asked);
    await line.letThrough();
  });

  it.each(Object.keys(STATEMENTS))('does nothing: %s', async (name) => {
    const answer = answers[name];
    if (answer instanceof Error) expect(answer.message).toContain('timeout');
    else
      expect([(answer as Answer).status, (answer as Answer).headers.get('retry-after')]).toEqual([503, '5']);
    await cases[name]?.expectNothingDone();
  });
});
