import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { loadAuthorizationRequest } from '../../src/flows/authorize/authorize.ts';
import { decisionForm } from '../../src/flows/authorize/decisionForms.ts';
import { signForm } from '../../src/flows/common/signedForm.ts';
import { Parameters } from '../../src/rules/request/parameters.ts';
import { hexOf, sha256 } from '../../src/secrets/digest.ts';
import { grantIdFor } from '../../src/secrets/grantId.ts';
import { type Approval, approveGrant } from '../../src/store/authorize/approvals.ts';
import { setSessionConfirmed } from '../../src/store/authorize/paymentConfirmations.ts';
import { openDatabase } from '../../src/store/database/database.ts';
import { sessionOf } from '../support/account.ts';
import { Agent, type Answer } from '../support/agent.ts';
import { codeOf, reachConsent, requestOf, signIn } from '../support/flow.ts';
import { waitForLocks, whileHeld } from '../support/locks.ts';
import { rowsOf } from '../support/rows.ts';
import { approvalOf } from '../support/samples.ts';
import { CALLER, type TestClient, type TestUser, useServer } from '../support/server.ts';

// The statement that approves looks by itself at what the payment password confirmed. Here its form token is always right,
// as if whatever checks tokens took every one.

const server = await useServer();
const { pool } = server.database;
const second = openDatabase(server.database.url);
afterAll(() => second.end());
const SPENDING = { scope: 'account-info payment-shop.limit(7,1500)' };

let client: TestClient;
let user: TestUser;
let agent: Agent;

beforeEach(async () => {
  [client, user, agent] = [await server.createClient(), await server.createUser(), new Agent(server.baseUrl)];
});

/** Asks the database about the user. */
const ask = (text: string) => pool.query(text, [user.userId]);

/** Presses Allow with a token that the consent page would have had `ago` milliseconds before now, whether it was shown or not. */
async function allow(fields: Record<string, string> = SPENDING, ago = 0): Promise<Answer> {
  const request = new URLSearchParams(requestOf(client, fields)).toString().replaceAll('+', '%20');
  const session = await sessionOf(server, agent);
  const owner = { ...session, now: new Date(session.now.getTime() - ago) };
  const authorizationRequest = await loadAuthorizationRequest(server.context, new Parameters(request));
  const decision_token = signForm(server.context, decisionForm({ authorizationRequest, session: owner }), 0);
  return agent.post('/consent', { request, decision_token, decision: 'allow' });
}

const confirm = (fields: Record<string, string> = SPENDING, browser = agent) =>
  reachConsent(browser, requestOf(client, fields), user);

const age = (interval: string) =>
  ask(`update sessions set confirmed_at = confirmed_at - interval '${interval}' where user_id = $1`);

const approved = async () =>
  (await ask(`select from audit_events where user_id = $1 and kind like 'approved%'`)).rowCount;

describe('Allow without the payment password', () => {
  const REASONS: Record<string, () => Promise<unknown>> = {
    'nothing was confirmed': () => signIn(agent, user.login, user.password),
    'another request was confirmed': () => confirm({ scope: 'payment-shop.limit(7,1501)' }),
    'it was confirmed in another session': async () => {
      await signIn(agent, user.login, user.password);
      await confirm(SPENDING, new Agent(server.baseUrl));
    },
    'it was confirmed five minutes before the page': async () => {
      await confirm();
      await age('5 minutes');
    },
  };

  it.each(Object.entries(REASONS))(
    'gives no code when %s, and leads to the payment password',
    async (_, make) => {
      await make();
      const before = await rowsOf(server.database);
      const answer = await allow();
      expect([answer.status, answer.location?.includes('/oauth/authorize?')]).toEqual([303, true]);
      expect((await agent.get(answer.location ?? '')).page).toBe('payment-password');
      expect(await rowsOf(server.database)).toBe(before);
    },
  );

  it('gives one where nothing is spent, or the user has no payment password', async () => {
    await signIn(agent, user.login, user.password);
    expect(codeOf(await allow({ scope: 'account-info' }))).toMatch(/^assent_ac_/);
    user = await server.createUser({ paymentPassword: null });
    agent = new Agent(server.baseUrl);
    await signIn(agent, user.login, user.password);
    expect(codeOf(await allow())).toMatch(/^assent_ac_/);
  });
});

describe('a confirmation by the payment password', () => {
  it('is good for a page that was asked for within five minutes, and pressed for as long as the page is good', async () => {
    await confirm();
    await age('19 minutes');
    expect(codeOf(await allow(SPENDING, 14.5 * 60_000))).toMatch(/^assent_ac_/);
  });

  it('gives the same code again when it was used up by it', async () => {
    await confirm();
    const first = await allow();
    expect(codeOf(await allow())).toBe(codeOf(first));
    expect(await approved()).toBe(1);
  });

  it('is good once for its request, also when others are confirmed beside it', async () => {
    const requests = ['one', 'two', 'three'].map((name) => ({ ...SPENDING, instance_name: name }));
    for (const request of requests) await confirm(request);
    for (const request of requests) expect(codeOf(await allow(request))).toMatch(/^assent_ac_/);
    await ask('delete from grants where user_id = $1');
    for (const request of requests) expect((await allow(request)).status).toBe(303);
  });

  it('is kept beside a few others only', async () => {
    await confirm();
    const { sessionHash, paymentPasswordHash } = await sessionOf(server, agent);
    const confirmation = { sessionHash, paymentPasswordHash, externalId: null, ...CALLER };
    for (let n = 0; n < 12; n += 1) {
      const request = { requestDigest: sha256(`${n}`), clientId: client.clientId };
      expect(await setSessionConfirmed(pool, { ...request, ...confirmation })).toMatchObject({ valid: true });
    }
    const kept = await ask(
      'select jsonb_object_keys(confirmed_before) as request from sessions where user_id = $1',
    );
    const before = [3, 4, 5, 6, 7, 8, 9, 10].map((n) => hexOf(sha256(`${n}`)));
    expect(kept.rows.map(({ request }) => request).toSorted()).toEqual(before.toSorted());
  });

  it('is good for one of two approvals that wait for each other, at two servers', async () => {
    await confirm();
    const { sessionHash, confirmedRequest } = await sessionOf(server, agent);
    const approvalFor = (instanceName: string): Approval => ({
      ...approvalOf(client, user),
      grantId: grantIdFor(user.userId, client.clientId, instanceName),
      instanceName,
      ...SPENDING,
      codeHash: sha256(instanceName),
      sessionHash,
      requestDigest: confirmedRequest ?? sha256(''),
    });
    const lock = 'select from users where user_id = $1 for update';
    const verdicts = await whileHeld(pool, lock, [user.userId], async () => {
      const both = [approveGrant(pool, approvalFor('one')), approveGrant(second, approvalFor('other'))];
      await waitForLocks(pool, 2);
      return both;
    });
    expect((await Promise.all(verdicts)).toSorted()).toEqual(['stale', 'written']);
    expect(await approved()).toBe(1);
  });
});
