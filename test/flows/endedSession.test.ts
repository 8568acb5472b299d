import { describe, expect, it, vi } from 'vitest';
import { transaction } from '../../src/store/database/database.ts';
import { copyOf, press } from '../support/account.ts';
import { decide, reachConsent, requestOf } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { newSecret } from '../support/ledger.ts';
import { setPasswords, setUserStatus, signOutUser } from '../support/operators.ts';
import { waitForLocks } from '../support/postgres/locks.ts';
import type { TestUser } from '../support/server.ts';
import { useReplicas } from './replicas.ts';

// A decision is read while its session stands, and written a moment later: by then the session may be over, and its end
// may have been confirmed.

const { line, database, slow, other } = await useReplicas();
const { pool } = database;

const age = (what: string) => (_agent: Agent, user: TestUser) =>
  pool.query(`update sessions set ${what} where user_id = $1`, [user.userId]);

type Ending = (agent: Agent, user: TestUser) => Promise<unknown>;

const ENDINGS: Record<string, Ending> = {
  async 'the user has signed out'(agent) {
    const elsewhere = copyOf(agent, other.baseUrl);
    await press(elsewhere, await elsewhere.get('/oauth/account'), '/oauth/sign-out');
  },
  'the operator has signed the user out': (_agent, { login }) => signOutUser(pool, login, 'tests'),
  'the password has changed': (_agent, { login }) =>
    setPasswords(pool, login, { password: newSecret(), paymentPassword: null }, 'tests'),
  'the session has been idle for half an hour': age(`seen_at = seen_at - interval '31 minutes'`),
  'the session is over 12 hours old': age(`created_at = created_at - interval '13 hours'`),
};

async function expectNothingWritten({ userId }: TestUser): Promise<void> {
  const written =
    'select from grants where user_id = $1 union all select from audit_events where user_id = $1 and grant_id is not null';
  expect((await pool.query(written, [userId])).rowCount).toBe(0);
}

async function consentOf(scope: string) {
  const [client, user] = [await other.createClient(), await other.createUser()];
  const agent = new Agent(slow.baseUrl);
  return { agent, user, consent: await reachConsent(agent, requestOf(client, { scope }), user) };
}

describe.each([
  ['allow', 'a read-only scope', 'account-info'],
  ['allow', 'a confirmed payment', 'payment-shop'],
  ['reject', 'a request', 'payment-shop'],
] as const)('a late decision to %s %s', (decision, _what, scope) => {
  /** Decides, and does `meanwhile` while the statement is on its way. Expects that nothing is written. */
  async function decideLate(meanwhile: Ending) {
    const { agent, user, consent } = await consentOf(scope);
    line.holdBack(['grant-approve', 'grant-reject']);
    const asked = decide(agent, consent, decision);
    await vi.waitFor(() => expect(line.held()).toBe(1), { timeout: 60_000 });
    await meanwhile(agent, user);
    await line.letThrough();
    const answer = await asked;
    await expectNothingWritten(user);
    return { agent, answer };
  }

  it.each(Object.entries(ENDINGS))(
    'writes nothing, and the request is shown again, if %s [endedSession-1]',
    async (_, ending) => {
      const { agent, answer } = await decideLate(ending);
      expect(answer.status).toBe(303);
      expect(answer.location).toContain(`${slow.baseUrl}/oauth/authorize?`);
      expect((await agent.get(answer.location ?? '')).page).toBe('sign-in');
    },
  );

  it('writes nothing if the user is blocked', async () => {
    const block: Ending = (_agent, { login }) => setUserStatus(pool, login, 'blocked', 'tests');
    expect((await decideLate(block)).answer.location ?? '').not.toMatch(/^http:..127.0.0.1:9/);
  });

  it('waits for a concurrent sign-out, and then writes nothing', async () => {
    const { agent, user, consent } = await consentOf(scope);
    const [asked] = await transaction(pool, async (leaving) => {
      await leaving.query('delete from sessions where user_id = $1', [user.userId]);
      const asked = decide(agent, consent, decision);
      await waitForLocks(pool, 1);
      return [asked];
    });
    expect((await asked).status).toBe(303);
    await expectNothingWritten(user);
  });
});
