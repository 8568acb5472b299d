import { afterAll, describe, expect, it } from 'vitest';
import { dayOf, monthsAfter } from '../../src/rules/common/lifetimes.ts';
import { BUILT_IN_OFFER, FURTHER_LIMITS } from '../../src/rules/request/scopeRules.ts';
import { flowAt } from '../contract/flowAt.ts';
import { callAt, openAdmin, operatorToken } from '../support/admin.ts';
import { useServer } from '../support/server.ts';

// An operator leaves an authorization fewer rights or lower limits.

const server = await useServer({ countsPayments: true, furtherLimits: FURTHER_LIMITS });
const { pool } = server.database;
const offer = { ...BUILT_IN_OFFER, furtherLimits: FURTHER_LIMITS };
const log: string[] = [];
const admin = await openAdmin(pool, log, afterAll, new Map(), null, offer);
const maria = await operatorToken(pool, 'maria', 'supports', 1);
const { agent, resource, codeFor, exchanged, tokenFor, introspected, allow } = await flowAt(server);

let client = await server.createClient();

async function grantOf(scope: string) {
  client = await server.createClient();
  const token = await tokenFor(client, { scope });
  return { token, grantId: await grantIdOf() };
}
async function grantIdOf(): Promise<string> {
  const { rows } = await pool.query('select grant_id from grants where client_id = $1', [client.clientId]);
  return rows[0].grant_id;
}
const lower = (grantId: string, scope: string, token = maria) =>
  callAt(admin, `POST /v1/grants/${grantId}/lower`, { scope }, token);
const scopeOf = async (token: string) => (await introspected(token)).scope;
const spend = async (token: string, amount: string, key: string) => {
  const payment = { token, key, amount, currency: 'RUB', source: 'wallet', shop: '337' };
  const { body } = await agent.post('/oauth/spend', payment, { authorization: resource });
  return JSON.parse(body);
};
const events = async (grantId: string) => {
  const asked = await callAt(admin, `GET /v1/audit?grant_id=${grantId}`, undefined, maria);
  return asked.body.items.map(({ outcome }: { outcome: string }) => outcome);
};

const WIDE = 'account-info payment-shop.limit(7,5000) payment-p2p.limit(7,900)';
const SOON = dayOf(monthsAfter(new Date(), 1));

describe('an authorization that an operator lowers', () => {
  it.each([
    ['a smaller sum', 'account-info payment-shop.limit(7,1500) payment-p2p.limit(7,900)'],
    ['fewer rights', 'account-info'],
    ['a largest payment', 'account-info payment-shop.limit(7,5000).each(200) payment-p2p.limit(7,900)'],
    ['a last day', `account-info payment-shop.limit(7,5000).until(${SOON}) payment-p2p.limit(7,900)`],
    ['the same sum in a longer period', 'account-info payment-shop.limit(14,5000)'],
  ])('keeps its token, which has from then on %s', async (_what, scope) => {
    const { token, grantId } = await grantOf(WIDE);
    expect(await lower(grantId, scope)).toMatchObject({ status: 200, body: { grant_id: grantId, scope } });
    expect(await scopeOf(token)).toBe(scope);
    expect(await events(grantId)).toEqual(['approved', 'exchanged', 'lowered_by_operator']);
  });

  it('counts earlier payments, and refuses one that would have fitted', async () => {
    const { token, grantId } = await grantOf('payment-shop.limit(7,5000)');
    expect(await spend(token, '900', 'first')).toMatchObject({ verdict: 'reserved' });
    await lower(grantId, 'payment-shop.limit(7,1000)');
    expect(await spend(token, '101', 'second')).toMatchObject({ verdict: 'refused', reason: 'over_budget' });
    expect(await spend(token, '100', 'third')).toMatchObject({ verdict: 'reserved', left: '0' });
  });

  it('reserves no payment above the new limit after the answer', async () => {
    for (let race = 0; race < 30; race += 1) {
      const { token, grantId } = await grantOf('payment-shop.limit(7,1000000)');
      let isLower = false;
      const spender = async (name: number, n = 0): Promise<string> => {
        const wasLower = isLower;
        const { verdict, reason = verdict } = await spend(token, '100', `${name}-${n}`);
        return wasLower ? reason : spender(name, n + 1);
      };
      const spenders = Promise.all([spender(1), spender(2), spender(3)]);
      expect((await lower(grantId, 'payment-shop.limit(7,1)')).status).toBe(200);
      isLower = true;
      expect(new Set(await spenders)).toEqual(new Set(['over_budget']));
      const inTime = `select max(p.paid_at) <= max(a.at) as "isInTime" from payment_reservations p
                        join audit_events a using (grant_id) where grant_id = $1 and kind = 'lowered_by_operator'`;
      expect((await pool.query(inTime, [grantId])).rows[0].isInTime).not.toBe(false);
    }
  });

  it('is shown to its user, to the trail with the operator and the scope before, and to the application that exchanges its code', async () => {
    client = await server.createClient();
    const code = await codeFor(client, { scope: WIDE });
    await lower(await grantIdOf(), 'account-info');
    const { status, body } = await exchanged(client, code);
    expect([status, JSON.parse(`${body}`).scope]).toEqual([200, 'account-info']);
    expect((await agent.get('/oauth/account/history')).text).toContain('We lowered what Test Shop may do');
    const trail = `select operator, scope, detail, address is not null and reference is not null as "hasRequest"
                     from audit_events where client_id = $1 and kind = 'lowered_by_operator'`;
    const { rows } = await pool.query(trail, [client.clientId]);
    expect(rows).toEqual([
      { operator: 'maria', scope: 'account-info', detail: { replaces: WIDE }, hasRequest: true },
    ]);
  });

  it('may get its earlier limits back from its user', async () => {
    const { grantId } = await grantOf(WIDE);
    await lower(grantId, 'account-info');
    await allow(client, { scope: WIDE });
    const shown = await callAt(admin, `GET /v1/grants/${grantId}`, undefined, maria);
    expect(shown.body).toMatchObject({ scope: WIDE, state: 'code issued' });
  });
});

describe('lowering refuses', () => {
  it.each([
    ['a higher sum', 'payment-shop.limit(7,5000.01)', 'payment-shop.limit(7,5000.01) is not within'],
    ['the same sum in a shorter period', 'payment-shop.limit(6,5000)', 'is not within'],
    ['a right that was not allowed', 'account-info operation-history', 'operation-history is not within'],
    ['another target', 'payment.to-pattern("337").limit(7,10)', 'is not within'],
    ['a one-time payment', 'payment-shop.limit(,10)', 'is not within'],
    ['another source of money', 'account-info money-source("card")', 'money-source must stay as it is'],
    ['no right', ' ', 'The parameter scope is missing or empty.'],
    ['what is not a scope', 'payment-shop.limit(7;10)', 'scope: '],
    ['a day that is past', 'payment-shop.limit(7,10).until(2026-01-01)', 'ended on 2026-01-01, in UTC'],
    ['a right twice', 'account-info account-info', 'the same right twice'],
  ])('%s, and changes nothing', async (_what, scope, why) => {
    const { token, grantId } = await grantOf(WIDE);
    const { status, body } = await lower(grantId, scope);
    expect([status, body.field, body.detail]).toEqual([422, 'scope', expect.stringContaining(why)]);
    expect(await scopeOf(token)).toBe(WIDE);
    expect(await events(grantId)).toEqual(['approved', 'exchanged']);
  });

  it('an authorization that has ended', async () => {
    const { token, grantId } = await grantOf(WIDE);
    await agent.post('/api/revoke', {}, { authorization: `Bearer ${token}` });
    const { status, body } = await lower(grantId, 'account-info');
    expect([status, body.rule]).toEqual([409, 'state']);
    expect(await scopeOf(token)).toBeUndefined();
  });

  it('an operator who may only read', async () => {
    const { grantId } = await grantOf(WIDE);
    const reader = await operatorToken(pool, 'reader', 'reads', 1);
    expect((await lower(grantId, 'account-info', reader)).status).toBe(403);
  });
});

it('lowering again to the same changes nothing, and twenty at once leave what one of them said', async () => {
  const { token, grantId } = await grantOf(WIDE);
  const sums = Array.from({ length: 20 }, (_, n) => `payment-shop.limit(7,${100 + n})`);
  const answers = await Promise.all(sums.map((scope) => lower(grantId, scope)));
  const done = answers.filter(({ status }) => status === 200).map(({ body }) => body.scope);
  const outcomes = await events(grantId);
  expect(outcomes.filter((one: string) => one === 'lowered_by_operator')).toHaveLength(done.length);
  const scope = String(await scopeOf(token));
  expect(done).toContain(scope);
  expect((await lower(grantId, scope)).status).toBe(200);
  expect(await events(grantId)).toEqual(outcomes);
});
