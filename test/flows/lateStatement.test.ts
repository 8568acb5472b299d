import { expect, it, vi } from 'vitest';
import { changePassword, findPasswordForm } from '../../src/flows/account/changePassword.ts';
import { revokeGrantsInBatches } from '../../src/flows/account/disconnect.ts';
import { revokeByBearer } from '../../src/flows/token/revoke.ts';
import type { Caller } from '../../src/rules/common/caller.ts';
import { sha256 } from '../../src/secrets/digest.ts';
import { parseToken } from '../../src/secrets/tokens.ts';
import { actorParameters } from '../../src/store/common/auditEvents.ts';
import { insertSession } from '../../src/store/common/sessions.ts';
import { type ExchangeRequest, exchangeCode } from '../../src/store/token/exchanges.ts';
import { revokeGrants } from '../../src/store/token/revocations.ts';
import { actorsAt, copyOf, fieldsFor, isSignedIn } from '../support/account.ts';
import { decide, obtainCode, obtainToken, reachConsent, requestOf, signIn } from '../support/flow.ts';
import { Agent, type Answer } from '../support/http/agent.ts';
import { exchange, expectToken } from '../support/http/tokenRequests.ts';
import { newSecret } from '../support/ledger.ts';
import { waitForLocks, whileHeld } from '../support/postgres/locks.ts';
import { CALLER, type TestClient, type TestUser } from '../support/server.ts';
import { isLive } from '../support/state.ts';
import { useReplicas } from './replicas.ts';
import { newSessionOf, signedInUser } from './signedIn.ts';

const TOO_LATE = { message: 'the statement reached the database after its deadline and did nothing' };

// 503 means "not done". The statement may still be on its way, and get through after the caller did something else at
// another replica: then it must do nothing.

const { line, database, slow, other } = await useReplicas();
const { pool } = database;
const resource = await other.createResource();

const hasEnded = async (token: string) => !(await isLive(other, resource, token));

const isThere = async (text: string, { userId }: TestUser) =>
  (await pool.query(text, [userId])).rowCount !== 0;

const grantIdsOf = (token: string) => [parseToken('token', token).grantId ?? ''];

/** A request whose statement is held back; `isDone` tells whether that did something when it got through. */
interface Late {
  ask(): Promise<Answer>;
  /** Done at the other replica while the statement is held back. */
  meanwhile?(): Promise<void>;
  isDone(): Promise<boolean>;
}

type Setting = { agent: Agent; client: TestClient; user: TestUser };

const STATEMENTS: Record<string, (setting: Setting) => Promise<Late>> = {
  async 'grant-exchange'({ agent, client, user }) {
    const code = await obtainCode(agent, requestOf(client), user);
    let token = '';
    return {
      ask: () => exchange(slow, client, code),
      async meanwhile() {
        token = expectToken(await exchange(other, client, code));
      },
      isDone: () => hasEnded(token),
    };
  },

  async 'grant-approve'({ agent, client, user }) {
    const consent = await reachConsent(agent, requestOf(client, { scope: 'payment-shop' }), user);
    return {
      ask: () => decide(agent, consent, 'allow'),
      isDone: () => isThere('select from grants where user_id = $1', user),
    };
  },

  async 'grant-reject'({ agent, client, user }) {
    const consent = await reachConsent(agent, requestOf(client), user);
    return {
      ask: () => decide(agent, consent, 'reject'),
      isDone: () => isThere(`select from audit_events where user_id = $1 and kind = 'rejected'`, user),
    };
  },

  'grant-revoke-of-user': (setting) => disconnection('/oauth/account/disconnect', setting),

  async 'grant-revoke-all-of-user'(setting) {
    await obtainToken(setting.agent, setting.client, setting.user, { instance_name: 'beside' });
    return disconnection('/oauth/account/disconnect-all', setting);
  },

  async 'grant-revoke-by-token'({ agent, client, user }) {
    const token = await obtainToken(agent, client, user);
    const credentials = { client_id: client.clientId, client_secret: client.clientSecret ?? '' };
    return {
      ask: () => agent.post('/oauth/revoke', { token, ...credentials }),
      isDone: () => hasEnded(token),
    };
  },

  async 'session-insert'({ agent, user }) {
    return {
      ask: () => signIn(agent, user.login, user.password),
      isDone: () => isThere('select from sessions where user_id = $1', user),
    };
  },
};

/** Must leave alone a token that was issued meanwhile. */
async function disconnection(action: string, { agent, client, user }: Setting): Promise<Late> {
  await obtainToken(agent, client, user);
  const fields = fieldsFor(await agent.get('/oauth/account'), action);
  let token = '';
  return {
    ask: () => agent.post(action, fields),
    async meanwhile() {
      token = await obtainToken(copyOf(agent, other.baseUrl), client, user);
    },
    isDone: () => hasEnded(token),
  };
}

/** A statement that waits for the lock of the user's row in this table; `isDone` tells whether it did something. */
interface Waiting {
  readonly table: 'grants' | 'sessions' | 'users';
  ask(caller: Caller): Promise<unknown>;
  isDone(): Promise<boolean>;
}

const WAITING: Record<string, (user: TestUser) => Promise<Waiting>> = {
  'a revocation by an operator': (user) =>
    revocationOf(user, (token, { decideBy }) =>
      revokeGrants(pool, { grantIds: grantIdsOf(token), ...actorParameters({ name: 'tests' }), decideBy }),
    ),

  'a revocation by the token itself': (user) =>
    revocationOf(user, (token, caller) => revokeByBearer(other.context, token, caller)),

  async 'a sign-in that ends the earlier session'(user) {
    const { agent, session } = await signedInUser(other, user);
    const next = await newSessionOf(other, user, 'another cookie');
    return {
      table: 'sessions',
      ask: (caller) => insertSession(pool, { ...next, earlierHash: session.sessionHash, ...caller }),
      isDone: async () => !(await isSignedIn(agent)),
    };
  },

  async 'a password change'(user) {
    const { session } = await signedInUser(other, user);
    const { formToken } = (await findPasswordForm(other.context, session, 'password')) ?? {};
    const deviceCookies = { password: null, 'payment password': null };
    const passwords = { currentPassword: user.password, newPassword: newSecret() };
    const sent = { kind: 'password', ...passwords, formToken, deviceCookies } as const;
    return {
      table: 'users',
      ask: (caller) => changePassword(other.context, session, sent, caller),
      isDone: () =>
        isThere(`select from audit_events where user_id = $1 and kind = 'password_changed'`, user),
    };
  },
};

async function revocationOf(
  user: TestUser,
  revoke: (token: string, caller: Caller) => Promise<unknown>,
): Promise<Waiting> {
  const token = await obtainToken(new Agent(other.baseUrl), await other.createClient(), user);
  return { table: 'grants', ask: (caller) => revoke(token, caller), isDone: () => hasEnded(token) };
}

it.each(Object.entries(WAITING))(
  'a statement that waits for a lock until its caller got 503 does nothing: %s [lateStatement-1]',
  async (_what, prepare) => {
    const user = await other.createUser();
    const { table, ask, isDone } = await prepare(user);
    const lock = `select from ${table} where user_id = $1 for update`;
    const [answer] = await whileHeld(pool, lock, [user.userId], async () => {
      const decideBy = performance.now() + 1_500;
      const answer = ask({ ...CALLER, decideBy }).catch((error: unknown) => error);
      await waitForLocks(pool, 1);
      await vi.waitUntil(() => performance.now() > decideBy, { timeout: 3_000 });
      return [answer];
    });
    expect(await answer).toMatchObject(TOO_LATE);
    expect(await isDone()).toBe(false);
  },
);

async function twoExchanges(): Promise<[ExchangeRequest, ExchangeRequest]> {
  const client = await other.createClient();
  const requestFor = async (instance_name: string): Promise<ExchangeRequest> => {
    const { agent, user } = await actorsAt(other);
    const code = await obtainCode(agent, requestOf(client, { instance_name }), user);
    const { grantId, hash: codeHash } = parseToken('code', code);
    const { clientId, redirectUri, clientSecret } = client;
    const [secretHash, tokenHash] = [sha256(clientSecret ?? ''), sha256(instance_name)];
    const of = { grantId, codeHash, clientId, secretHash, redirectUri, challenge: null };
    return { ...of, tokenHash, ...CALLER };
  };
  return [await requestFor('one'), await requestFor('two')];
}

const late = () => ({ ...CALLER, decideBy: performance.now() });

it('an exchange past its deadline fails alone in its batch', async () => {
  const [first, second] = await twoExchanges();
  expect(await exchangeCode(pool, first)).toMatchObject({ verdict: 'issued' });
  const caller = late();
  const answers = await Promise.allSettled(
    [first, second].map((request) => exchangeCode(pool, { ...request, ...caller })),
  );
  expect(answers).toMatchObject([{ value: { verdict: 'issued' } }, { reason: TOO_LATE }]);
  expect(await exchangeCode(pool, second)).toMatchObject({ verdict: 'issued' });
});

it('an exchange past its deadline gets no more time from others in its batch', async () => {
  const [first, second] = await twoExchanges();
  const requests = [{ ...first, ...late() }, second];
  const [answer] = await Promise.allSettled(requests.map((request) => exchangeCode(pool, request)));
  expect(answer).toMatchObject({ reason: TOO_LATE });
  expect(await exchangeCode(pool, first)).toMatchObject({ verdict: 'issued' });
});

it('disconnecting all authorizations fails if it timed out before the first one', async () => {
  const { client, user, agent } = await actorsAt(other);
  const token = await obtainToken(agent, client, user);
  await expect(revokeGrantsInBatches(other.context, user.userId, client.clientId, late())).rejects.toThrow(
    'after its deadline',
  );
  expect(await hasEnded(token)).toBe(false);
});

it('a statement that reaches the database after its caller got 503 does nothing', async () => {
  const cases: [name: string, Late][] = [];
  for (const [name, prepare] of Object.entries(STATEMENTS))
    cases.push([name, await prepare({ ...(await actorsAt(other)), agent: new Agent(slow.baseUrl) })]);
  line.holdBack(Object.keys(STATEMENTS));
  // All at once: each is told 503 only after some seconds.
  const asked = cases.map(([, { ask }]) => ask());
  await vi.waitFor(() => expect(line.held()).toBe(asked.length), { timeout: 60_000 });
  for (const [, { meanwhile }] of cases) await meanwhile?.();
  const answers = await Promise.all(asked);
  await line.letThrough();
  for (const [index, [name, { isDone }]] of cases.entries()) {
    const answer = answers[index];
    expect.soft([answer?.status, answer?.headers.get('retry-after')], name).toEqual([503, '5']);
    expect.soft(await isDone(), name).toBe(false);
  }
});
