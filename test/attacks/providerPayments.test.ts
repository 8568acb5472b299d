import { beforeEach, describe, expect, it } from 'vitest';
import { loadAuthorizationRequest } from '../../src/flows/authorize/authorize.ts';
import { decisionForm } from '../../src/flows/authorize/decisionForms.ts';
import { signForm } from '../../src/flows/common/signedForm.ts';
import { Parameters } from '../../src/rules/request/parameters.ts';
import { sha256 } from '../../src/secrets/digest.ts';
import { setSessionConfirmed } from '../../src/store/authorize/paymentConfirmations.ts';
import { copyOf, sessionOf as knownSessionOf, signedIn } from '../support/account.ts';
import { Agent, type Answer } from '../support/agent.ts';
import { codeOf, decide, requestOf } from '../support/flow.ts';
import { rowsOf } from '../support/rows.ts';
import { CALLER, startServer, type TestServer, useServer } from '../support/server.ts';
import { callbackOf, goOn, leaveFor, passWallet, useWallet } from '../support/wallet.ts';
import { linkTo, sessionOf } from './browsers.ts';
import { begunIn, expectRefused, signInCookie } from './refusals.ts';

// An attacker has a signed-in browser, or an answer of the wallet, and wants to have a payment allowed by it.

const wallet = await useWallet({ paymentAcr: 'payment' });
const server = await useServer({ provider: wallet.settings });
const { pool } = server.database;
const shop = await server.createClient();
const SPENDING = { scope: 'account-info payment-shop.limit(7,1500)' };

const spending = (fields: Record<string, string> = {}) => linkTo(requestOf(shop, { ...SPENDING, ...fields }));
const refuse = (callback: string, ruleId: string, rule?: RegExp) =>
  expectRefused(server, agent, callback, ruleId, rule);
const pass = (from: string | Answer) => passWallet(wallet, agent, from);
const confirmations = async () =>
  (await pool.query(`select from audit_events where kind = 'payment_confirmed'`)).rowCount;

let agent: Agent;
beforeEach(async () => {
  agent = new Agent(server.baseUrl);
  await pass('/account');
});

/** The callback by which the wallet confirms a request. */
const confirming = async (request = spending()) => callbackOf(agent, await leaveFor(wallet, agent, request));

/** Presses Allow with a token that the consent page would have had, whether it was shown or not. */
async function allowUnseen(at: TestServer, browser: Agent, fields = SPENDING): Promise<Answer> {
  const request = new URLSearchParams(requestOf(shop, fields)).toString().replaceAll('+', '%20');
  const session = await knownSessionOf(at, browser);
  const authorizationRequest = await loadAuthorizationRequest(at.context, new Parameters(request));
  const decision_token = signForm(at.context, decisionForm({ authorizationRequest, session }), 0);
  return browser.post('/consent', { request, decision_token, decision: 'allow' });
}

describe('a right that spends', () => {
  it('leads to the wallet, which has to ask again for this payment', async () => {
    const { searchParams } = new URL(await leaveFor(wallet, agent, spending()));
    const asked = ['acr_values', 'max_age', 'prompt'].map((name) => searchParams.get(name));
    expect(asked).toEqual(['payment', '0', 'login']);
    const consent = await goOn(wallet, agent, spending());
    expect(consent.page).toBe('consent');
    expect(codeOf(await decide(agent, consent, 'allow'))).toMatch(/^assent_ac_/);
  });

  it('is confirmed by the sign-in itself where no one was signed in, and only by such a one', async () => {
    const before = await confirmations();
    agent = new Agent(server.baseUrl);
    const answer = await pass(spending());
    expect((await agent.get(answer.location ?? '')).page).toBe('consent');
    expect(await confirmations()).toBe(Number(before) + 1);
    agent = new Agent(server.baseUrl);
    wallet.replaced = { claims: { acr: 'login' } };
    await refuse(await confirming(), 'sign_in_unconfirmed', /acr/);
    expect(sessionOf(agent)).toBeUndefined();
  });

  it('is not needed for what only reads', async () => {
    const consent = await agent.get(linkTo(requestOf(shop)));
    expect(consent.page).toBe('consent');
    agent = new Agent(server.baseUrl);
    const { searchParams } = new URL(await leaveFor(wallet, agent, linkTo(requestOf(shop))));
    expect(['acr_values', 'max_age', 'prompt'].filter((name) => searchParams.has(name))).toEqual([]);
  });
});

describe('an answer of the wallet that confirms nothing', () => {
  it.each([
    ['no acr', { without: 'acr' }, /acr/],
    ['another acr', { claims: { acr: 'login' } }, /acr/],
    ['several of them in one', { claims: { acr: 'login payment' } }, /acr/],
    ['no auth_time', { without: 'auth_time' }, /auth_time/],
  ])('is refused: %s', async (_what, replaced, rule) => {
    const session = sessionOf(agent);
    wallet.replaced = replaced;
    await refuse(await confirming(), 'sign_in_unconfirmed', rule);
    expect([sessionOf(agent), (await agent.get('/account')).page]).toEqual([session, 'account']);
  });

  it('is refused if the user was asked more than 10 seconds before the browser left: clocks may differ by that', async () => {
    const answered = async (secondsBefore: number) => {
      const callback = await confirming();
      const left = Math.ceil(begunIn(server, agent).at / 1000);
      wallet.replaced = { claims: { auth_time: left - secondsBefore } };
      return callback;
    };
    await refuse(await answered(11), 'sign_in_unconfirmed', /auth_time/);
    for (const ahead of [-30, -3_600, -1e12])
      await refuse(await answered(ahead), 'sign_in_unconfirmed', /future/);
    expect((await agent.get(await answered(10))).status).toBe(303);
    expect((await agent.get(spending())).page).toBe('consent');
  });

  it('is refused for another user of the wallet, and both stay as they are', async () => {
    const session = sessionOf(agent);
    wallet.user = { sub: 'another' };
    await refuse(await confirming(), 'sign_in_other_user');
    expect(sessionOf(agent)).toBe(session);
    expect((await agent.get(spending())).page).not.toBe('consent');
  });

  it('is refused when the session that asked has ended, or is another one now', async () => {
    const ended = await confirming();
    const cookie = sessionOf(agent) ?? '';
    await pool.query('delete from sessions where session_hash = $1', [sha256(cookie)]);
    await refuse(ended, 'sign_in_lost', /session/);

    await goOn(wallet, agent, '/account');
    const callback = await confirming();
    const other = new Agent(server.baseUrl);
    await passWallet(wallet, other, '/account');
    agent.cookies.set('assent_session', sessionOf(other) ?? '');
    await refuse(callback, 'sign_in_lost', /session/);
  });

  it('is refused when the session is signed out meanwhile, also while the answer is looked at', async () => {
    const session = await knownSessionOf(server, agent);
    const confirmation = {
      sessionHash: session.sessionHash,
      requestDigest: sha256(''),
      clientId: shop.clientId,
    };
    const by = (externalId: string) => ({
      ...confirmation,
      paymentPasswordHash: null,
      externalId,
      ...CALLER,
    });
    expect(await setSessionConfirmed(pool, by('another'))).toMatchObject({ valid: false });
    expect(await setSessionConfirmed(pool, by(wallet.user.sub))).toMatchObject({ valid: true });
    await pool.query('delete from sessions where session_hash = $1', [session.sessionHash]);
    expect(await setSessionConfirmed(pool, by(wallet.user.sub))).toMatchObject({ valid: false });
  });

  it('is a plain sign-in, even if it says that it is more', async () => {
    agent = new Agent(server.baseUrl);
    wallet.replaced = { claims: { acr: 'payment' } };
    await pass('/account');
    expect(sessionOf(agent)).toMatch(/^[\w-]{43}$/);
    expect((await agent.get(spending())).page).not.toBe('consent');
  });

  it('is the answer to a sign-in, under the cookie of a payment, and the other way round', async () => {
    const payment = await confirming();
    const session = sessionOf(agent) ?? '';
    agent.cookies.delete('assent_session');
    const signIn = await callbackOf(agent, await leaveFor(wallet, agent, '/account'));
    agent.cookies.set('assent_session', session);
    const [one, other] = [signInCookie(payment) ?? '', signInCookie(signIn) ?? ''];
    const [ofPayment = '', ofSignIn = ''] = [agent.cookies.get(one), agent.cookies.get(other)];
    agent.cookies.set(one, ofSignIn).set(other, ofPayment);
    await refuse(payment, 'sign_in_lost', /state/);
    await refuse(signIn, 'sign_in_lost', /state/);
  });

  it('is in one tab what another tab has not asked for: each confirms its own request', async () => {
    const states = ['one', 'other'];
    const [one = '', other = ''] = [
      await confirming(spending({ state: 'one' })),
      await confirming(spending({ state: 'other' })),
    ];
    for (const [index, callback] of [one, other].entries()) {
      const { location } = await agent.get(callback);
      expect(new URL(location ?? '').searchParams.get('state')).toBe(states[index]);
      expect((await agent.get(location ?? '')).page).toBe('consent');
    }
  });
});

describe('a confirmation by the wallet', () => {
  it('is for one approval', async () => {
    const consent = await goOn(wallet, agent, spending());
    codeOf(await decide(agent, consent, 'allow'));
    const again = await agent.get(spending());
    expect([again.page, await leaveFor(wallet, agent, again)]).toEqual([
      'notice',
      expect.stringMatching(/acr_values=payment/),
    ]);
  });

  it.each([
    { scope: 'account-info payment-shop.limit(7,1501)' },
    { instance_name: 'another' },
    { state: 'another' },
  ])('is for one request, not for another one: %o', async (fields) => {
    await pass(spending());
    expect((await agent.get(spending(fields))).page).toBe('notice');
    expect((await agent.get(spending())).page).toBe('consent');
  });

  it('is needed by the statement that approves, whatever checks the pages', async () => {
    const before = await rowsOf(server.database);
    const answer = await allowUnseen(server, agent);
    expect([answer.status, answer.location]).toEqual([303, expect.stringContaining('/oauth/authorize?')]);
    expect(await rowsOf(server.database)).toBe(before);
    await pass(spending());
    expect(codeOf(await allowUnseen(server, agent))).toMatch(/^assent_ac_/);
  });
});

describe('a user with passwords of ours', () => {
  it('signs in anew: the wallet can’t confirm for that user', async () => {
    const own = await startServer({ database: server.database });
    const user = await server.createUser();
    agent = copyOf(await signedIn(own, user), server.baseUrl);
    await own.close();
    const before = sessionOf(agent);
    expect(new URL(await leaveFor(wallet, agent, spending())).searchParams.get('acr_values')).toBe('payment');
    expect((await goOn(wallet, agent, spending())).text).not.toContain(user.login);
    expect(sessionOf(agent)).not.toBe(before);
  });

  it('can’t spend without the one for payments where PAYMENT_PASSWORD is required, whatever checks the pages', async () => {
    const strict = await startServer({ database: server.database, requiresPaymentPassword: true });
    const browser = await signedIn(strict, await server.createUser({ paymentPassword: null }));
    const before = await rowsOf(server.database);
    expect((await allowUnseen(strict, browser)).status).toBe(303);
    expect(await rowsOf(server.database)).toBe(before);
    expect(codeOf(await allowUnseen(strict, browser, { scope: 'account-info' }))).toMatch(/^assent_ac_/);
    await strict.close();
  });
});
