import { EventEmitter, once } from 'node:events';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { s256, sha256 } from '../../src/secrets/digest.ts';
import { copyOf, follow, signedIn } from '../support/account.ts';
import { codeOf, leadsTo, linkTo, press, requestOf } from '../support/flow.ts';
import { Agent, type Answer, formWith } from '../support/http/agent.ts';
import { exchange, expectToken } from '../support/http/tokenRequests.ts';
import { rowsOf } from '../support/postgres/rows.ts';
import { startServer, type TestServer, useServer } from '../support/server.ts';
import { callbackOf, goOn, leaveFor, passWallet, useWallet } from '../support/wallet.ts';
import { sessionOf } from './browsers.ts';
import { begunIn, expectRefused, signInCookie } from './refusals.ts';

// An attacker has a signed-in browser, or an answer of the wallet, and wants to have a payment allowed by it.

const wallet = await useWallet({ paymentAcr: 'payment' });
const server = await useServer({ provider: wallet.settings });
const { pool } = server.database;
const [shop, payer] = [await server.createClient(), await server.createUser()];
const SPENDING = { scope: 'account-info payment-shop.limit(7,1500)' };

const spending = (fields: Record<string, string> = {}) => linkTo(requestOf(shop, { ...SPENDING, ...fields }));
const refuse = (callback: string, ruleId: string, rule?: RegExp) =>
  expectRefused(server, agent, callback, ruleId, rule);

let agent: Agent;
beforeEach(async () => {
  agent = new Agent(server.baseUrl);
  await passWallet(wallet, agent, '/oauth/account');
});

const allow = async (request = spending()) => press(agent, await agent.get(request), 'allow');

const confirming = async (request = spending()) =>
  callbackOf(agent, await leaveFor(wallet, agent, await allow(request)));

const decisionIn = ({ location }: Answer) => new URL(location ?? '').searchParams.get('decision') ?? '';

/** The approvals of the user who signs in at the wallet now, by the kind of their confirmation. */
async function approvals(): Promise<unknown[]> {
  const { rows } = await pool.query(
    `select a.detail ->> 'confirmed_by' as by from audit_events a join users using (user_id)
      where kind like 'approved%' and external_id = $1`,
    [wallet.user.sub],
  );
  return rows.map(({ by }) => by);
}

describe('a payment right', () => {
  it('must be confirmed at the provider: Allow leads there by a page that says whom and how much', async () => {
    const before = await rowsOf(server.database);
    const answer = await allow();
    expect(leadsTo(answer, '/oauth/confirm')).toBe(true);
    const page = await follow(agent, answer);
    expect([page.page, page.forms.length]).toEqual(['confirm', 1]);
    expect(page.text).toContain(`Confirm at ${new URL(wallet.issuer).host}`);
    expect(page.text).toContain('Test Shop can pay any shop up to RUB 1,500 in any 7 days');
    expect(page.body).not.toMatch(/type="password"|<script/);
    const { searchParams } = new URL(await leaveFor(wallet, agent, answer));
    const asked = ['acr_values', 'max_age', 'prompt'].map((name) => searchParams.get(name));
    expect(asked).toEqual(['payment', '0', 'login']);
    expect(await rowsOf(server.database)).toBe(before);
    expectToken(await exchange(server, shop, codeOf(await goOn(wallet, agent, answer))));
    expect(await approvals()).toEqual(['provider']);
  });

  it('is not confirmed by the sign-in just before, even if that had the acr for payments', async () => {
    agent = new Agent(server.baseUrl);
    wallet.replaced = { claims: { acr: 'payment' } };
    const { searchParams } = new URL(await leaveFor(wallet, agent, spending()));
    expect(['acr_values', 'max_age', 'prompt'].filter((name) => searchParams.has(name))).toEqual([]);
    expect((await goOn(wallet, agent, spending())).page).toBe('consent');
    expect(await leaveFor(wallet, agent, await allow())).toContain('acr_values=payment');
    expect(await approvals()).toEqual([]);
  });

  it('is not confirmed by a payment password, even if the user has one', async () => {
    await pool.query(
      `update users set payment_password_hash = o.payment_password_hash from users o where users.external_id = $1 and o.user_id = $2`,
      [wallet.user.sub, payer.userId],
    );
    const answer = await allow();
    const [decision, before] = [decisionIn(answer), await rowsOf(server.database)];
    const request = formWith(await agent.get(spending()), 'decision').fields.request ?? '';
    const typed = { request, decision, payment_password: payer.paymentPassword ?? '' };
    expect(leadsTo(await agent.post('/oauth/confirm', typed), '/oauth/authorize')).toBe(true);
    const page = await agent.get(`/oauth/confirm?${request}&${new URLSearchParams({ decision })}`);
    expect([page.page, page.body.includes('payment_password')]).toEqual(['confirm', false]);
    expect(await rowsOf(server.database)).toBe(before);
  });

  it('needs a confirmation, unlike rights that only read', async () => {
    expect(codeOf(await allow(linkTo(requestOf(shop))))).toMatch(/^assent_ac_/);
    expect(await approvals()).toEqual([null]);
  });
});

describe('an invalid confirmation of the provider', () => {
  it.each([
    ['no acr', { without: 'acr' }, /acr/],
    ['another acr', { claims: { acr: 'login' } }, /acr/],
    ['several acr values in one claim', { claims: { acr: 'login payment' } }, /acr/],
    ['no auth_time', { without: 'auth_time' }, /auth_time/],
    ['another user', { claims: { sub: 'another' } }, 'sign_in_other_user'],
  ])('is refused, and the session continues: %s', async (_what, replaced, rule) => {
    const session = sessionOf(agent);
    wallet.replaced = replaced;
    const callback = await confirming();
    if (typeof rule === 'string') await refuse(callback, rule);
    else await refuse(callback, 'sign_in_unconfirmed', rule);
    expect([sessionOf(agent), (await agent.get('/oauth/account')).page]).toEqual([session, 'account']);
  });

  it('is refused if auth_time is too long before the redirect, or in the future [providerPayments-1]', async () => {
    const answered = async (secondsBefore: number) => {
      const callback = await confirming();
      const left = Math.ceil(begunIn(server, agent).at / 1000);
      wallet.replaced = { claims: { auth_time: left - secondsBefore } };
      return callback;
    };
    await refuse(await answered(11), 'sign_in_unconfirmed', /auth_time/);
    for (const ahead of [-30, -3_600, -1e12])
      await refuse(await answered(ahead), 'sign_in_unconfirmed', /future/);
    expect(await approvals()).toEqual([]);
    expect(leadsTo(await agent.get(await answered(10)), '/oauth/receipt')).toBe(true);
    expect(await approvals()).toEqual(['provider']);
  });

  it('is refused if the session that started it has ended', async () => {
    const ended = await confirming();
    const cookie = sessionOf(agent) ?? '';
    await pool.query('delete from sessions where session_hash = $1', [sha256(cookie)]);
    await refuse(ended, 'sign_in_lost', /session/);
  });

  it('allows nothing in another session of the user: the request is shown again', async () => {
    const callback = await confirming();
    const other = new Agent(server.baseUrl);
    await passWallet(wallet, other, '/oauth/account');
    agent.cookies.set('assent_session', sessionOf(other) ?? '');
    const answer = await agent.get(callback);
    expect(leadsTo(answer, '/oauth/authorize')).toBe(true);
    expect((await follow(agent, answer)).text).toContain('was not accepted');
    expect(await approvals()).toEqual([]);
  });

  it('is refused if the session ends while the provider’s code is exchanged', async () => {
    const callback = await confirming();
    const gate = new EventEmitter();
    wallet.exchanges.length = 0;
    wallet.replaced = { held: once(gate, 'open') };
    const sent = agent.get(callback);
    await vi.waitUntil(() => wallet.exchanges.length === 1);
    await pool.query('delete from sessions where session_hash = $1', [sha256(sessionOf(agent) ?? '')]);
    gate.emit('open');
    expect([(await sent).status, await approvals()]).toEqual([400, []]);
  });

  it('is refused with the cookie of a sign-in, and a sign-in with the cookie of a payment', async () => {
    const payment = await confirming();
    const session = sessionOf(agent) ?? '';
    agent.cookies.delete('assent_session');
    const signIn = await callbackOf(agent, await leaveFor(wallet, agent, '/oauth/account'));
    agent.cookies.set('assent_session', session);
    const [one, other] = [signInCookie(payment) ?? '', signInCookie(signIn) ?? ''];
    const [ofPayment = '', ofSignIn = ''] = [agent.cookies.get(one), agent.cookies.get(other)];
    agent.cookies.set(one, ofSignIn).set(other, ofPayment);
    await refuse(payment, 'sign_in_lost', /state/);
    await refuse(signIn, 'sign_in_lost', /state/);
  });

  it('is ignored if the page was rejected meanwhile: the application gets access_denied', async () => {
    const page = await agent.get(spending());
    const left = await leaveFor(wallet, agent, await press(agent, page, 'allow'));
    const callback = await callbackOf(agent, left);
    expect((await press(agent, page, 'reject')).location).toContain('error=access_denied');
    expect((await goOn(wallet, agent, callback)).location).toContain('error=access_denied');
    expect(await approvals()).toEqual([]);
  });

  it('is ignored if the grant was changed meanwhile: the request is shown again', async () => {
    const callback = await confirming();
    codeOf(await goOn(wallet, agent, await allow(spending({ state: 'newer' }))));
    expect(leadsTo(await agent.get(callback), '/oauth/authorize')).toBe(true);
    expect(await approvals()).toHaveLength(1);
  });
});

describe('a confirmation by the provider', () => {
  it('counts for one approval: a repeated callback has the same result, a new Allow redirects again', async () => {
    const callback = await confirming();
    for (let times = 0; times < 2; times += 1)
      expect(leadsTo(await agent.get(callback), '/oauth/receipt')).toBe(true);
    const code = codeOf(await goOn(wallet, agent, callback));
    expect(codeOf(await goOn(wallet, agent, callback))).toBe(code);
    expect([await approvals(), wallet.exchanges.length]).toEqual([['provider'], 2]);
    expect(await leaveFor(wallet, agent, await allow())).toContain('acr_values=payment');
  });

  it('can’t be started for a changed request, or with a decision forged or of another session', async () => {
    const decision = decisionIn(await allow());
    const own = agent;
    const thief = new Agent(server.baseUrl);
    await passWallet(wallet, thief, '/oauth/account');
    for (const [browser, fields, sent] of [
      [own, { scope: 'account-info payment-shop.limit(7,1501)' }, decision],
      [own, { instance_name: 'another' }, decision],
      [own, { state: 'another' }, decision],
      [thief, {}, decision],
      [own, {}, 'made-up'],
    ] as const) {
      const link = `${spending(fields)}&${new URLSearchParams({ decision: sent })}`;
      const answer = await browser.get(link.replace('/oauth/authorize', '/oauth/sign-in'));
      expect(leadsTo(answer, '/oauth/authorize')).toBe(true);
      expect((await follow(browser, answer)).page).toBe('consent');
    }
    expect(await approvals()).toEqual([]);
  });
});

describe('the authorization_details of a payment (RFC 9396)', () => {
  const TYPE = 'payment_authorization';
  /** Works at a server whose provider lists the types. */
  async function offering<Result>(
    types: unknown,
    work: (there: TestServer) => Promise<Result>,
  ): Promise<Result> {
    wallet.replaced = { metadata: { authorization_details_types_supported: types } };
    const there = await startServer({ database: server.database, provider: wallet.settings });
    const before = agent;
    agent = copyOf(agent, there.baseUrl);
    try {
      return await work(there);
    } finally {
      agent = before;
      await there.close();
    }
  }

  const leave = async (request?: string) => new URL(await leaveFor(wallet, agent, await allow(request)));
  const detailsIn = ({ searchParams }: URL): unknown[] | null =>
    JSON.parse(searchParams.get('authorization_details') ?? 'null');

  it('name the application, the sum, its period, each limit, and a hash of the signed decision', async () => {
    await offering(['account_information', TYPE], async () => {
      const scope = 'account-info payment.to-pattern("337").limit(30,900.50) payment-p2p.limit(7,500)';
      const allowed = await allow(spending({ scope, instance_name: 'anna' }));
      const left = new URL(await leaveFor(wallet, agent, allowed));
      const [shops, transfers] = [
        { period_days: 30, currency: 'RUB' },
        { period_days: 7, currency: 'RUB' },
      ];
      expect(detailsIn(left)).toEqual([
        {
          ...{ type: TYPE, decision_hash: s256(decisionIn(allowed)), client_name: expect.any(String) },
          ...{ amount: '3400.50', ...shops },
          limits: [
            { right: 'payment.to-pattern', target: '337', amount: '900.50', ...shops },
            { right: 'payment-p2p', amount: '500', ...transfers },
          ],
        },
      ]);
      const once = detailsIn(await leave(spending({ scope: 'payment-shop.limit(,99)' })));
      expect(once).toMatchObject([{ amount: '99', limits: [{ right: 'payment-shop', amount: '99' }] }]);
      expect(JSON.stringify(once)).not.toContain('period_days');
    });
  });

  it('say the sum that the user granted, not a higher one that was asked', async () => {
    const lowered = await server.createClient({ userLimits: true });
    await offering([TYPE], async () => {
      const page = await agent.get(linkTo(requestOf(lowered, SPENDING)));
      const { action, fields } = formWith(page, 'decision');
      const allowed = await agent.post(action, { ...fields, limit_1: '20', decision: 'allow' });
      expect(detailsIn(new URL(await leaveFor(wallet, agent, allowed)))).toMatchObject([
        { amount: '20', limits: [{ amount: '20' }] },
      ]);
    });
  });

  it.each([
    ['has none', undefined],
    ['has other types', ['payment_initiation']],
    ['has no list', TYPE.slice(1)],
  ])('are not sent if the provider’s metadata %s, nor before a sign-in', async (_what, types) => {
    await offering(types, async () => expect(detailsIn(await leave())).toBeNull());
    await offering([TYPE], async () => {
      agent.cookies.delete('assent_session');
      expect(detailsIn(new URL(await leaveFor(wallet, agent, spending())))).toBeNull();
    });
  });

  it('leave out the limits of a long request, whose address stays short enough for proxies', async () => {
    await offering([TYPE], async () => {
      const right = (at: number) => `payment.to-pattern("shop-${at}").limit(7,${at + 1})`;
      const rights = Array.from({ length: 70 }, (_, at) => right(at));
      const left = await leave(spending({ scope: rights.join(' ') }));
      expect(left.href.length).toBeLessThan(8_000);
      const [details] = detailsIn(left) ?? [];
      expect(details).toMatchObject({ amount: '2485', currency: 'RUB', period_days: 7 });
      expect(details).not.toHaveProperty('limits');
    });
  });

  it('are of this decision, if the ID token or the token response repeats them', async () => {
    await offering([TYPE], async (there) => {
      const refuseHere = (callback: string) =>
        expectRefused(there, agent, callback, 'sign_in_unconfirmed', /authorization_details/);
      const of = (decision_hash?: string) => [{ type: TYPE, decision_hash }];
      const other = s256('another decision');
      const spoken = async (replaced: (right: string) => typeof wallet.replaced) => {
        const allowed = await allow();
        const left = await leaveFor(wallet, agent, allowed);
        wallet.replaced = replaced(s256(decisionIn(allowed)));
        return callbackOf(agent, left);
      };
      for (const wrong of [of(other), of(), other && { type: TYPE, decision_hash: other }])
        await refuseHere(await spoken(() => ({ claims: { authorization_details: wrong } })));
      const mixed = (right: string) => ({ claims: { authorization_details: of(right) }, details: of(other) });
      await refuseHere(await spoken(mixed));
      expect(await approvals()).toEqual([]);
      const right = (hash: string) => ({ claims: { authorization_details: of(hash) }, details: of(hash) });
      expect(leadsTo(await agent.get(await spoken(right)), '/oauth/receipt')).toBe(true);
      const others = [{ type: 'account', decision_hash: 'x' }, null];
      const foreign = () => ({ claims: { authorization_details: others } });
      expect(leadsTo(await agent.get(await spoken(foreign)), '/oauth/receipt')).toBe(true);
      expect(await approvals()).toEqual(['provider', 'provider']);
    });
  });
});

it('a user who signed in with a local password must sign in at the provider before a payment', async () => {
  const own = await startServer({ database: server.database });
  agent = copyOf(await signedIn(own, payer), server.baseUrl);
  await own.close();
  const before = sessionOf(agent);
  const address = new URL(await leaveFor(wallet, agent, await allow()));
  expect(address.searchParams.has('acr_values')).toBe(false);
  const { page, text } = await goOn(wallet, agent, await callbackOf(agent, address.href));
  expect([page, text.includes(payer.login)]).toEqual(['consent', false]);
  expect(sessionOf(agent)).not.toBe(before);
  expect(await approvals()).toEqual([]);
});
