import { describe, expect, it } from 'vitest';
import { dayOf, monthsAfter } from '../../../src/rules/common/lifetimes.ts';
import { FURTHER_LIMITS } from '../../../src/rules/request/scopeRules.ts';
import { flowAt } from '../../contract/flowAt.ts';
import { useServer } from '../../support/server.ts';

// POST /oauth/spend and /oauth/spend/release: with SPENDING=on the server counts the payments of a right.

const server = await useServer({ countsPayments: true, furtherLimits: FURTHER_LIMITS });
const { pool } = server.database;
const { agent, resource, user, tokenFor, introspected } = await flowAt(server);
const client = await server.createClient();

let keys = 0;
function newKey(): string {
  keys += 1;
  return `order-${keys}`;
}
/** A payment to any shop. */
const payment = (token: string, fields: Record<string, string> = {}) => ({
  token,
  key: newKey(),
  amount: '100',
  currency: 'RUB',
  source: 'wallet',
  shop: '337',
  ...fields,
});

async function post(
  path: string,
  form: Record<string, string>,
  authorization = resource,
): Promise<Record<string, unknown>> {
  const { status, body } = await agent.post(path, form, { authorization });
  const answer: Record<string, unknown> = { status, ...JSON.parse(body) };
  return answer;
}
const spend = (token: string, fields: Record<string, string> = {}) =>
  post('/oauth/spend', payment(token, fields));
const release = (grantId: unknown, key: string) =>
  post('/oauth/spend/release', { grant_id: String(grantId), key });
/** `reserved`, or the reason of a refusal. */
const verdictOf = ({ verdict, reason }: Record<string, unknown>) => reason ?? verdict;
let instances = 0;
/** A token of an authorization of its own. */
function tokenOf(scope: string): Promise<string> {
  instances += 1;
  return tokenFor(client, { scope, instance_name: `i${instances}` });
}

describe('a payment', () => {
  it('is reserved within the limit, with all that introspection says, and refused above it', async () => {
    const token = await tokenOf('account-info payment-shop.limit(7,5000)');
    const { status, verdict, payment_id, right, left, free_again, ...rest } = await spend(token, {
      amount: '1250.00',
    });
    expect([status, verdict, left]).toEqual([200, 'reserved', '3750']);
    expect(payment_id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(right).toEqual({ right: 'payment-shop', period_days: 7, amount: '5000', currency: 'RUB' });
    expect(Number(free_again) * 1000 - Date.now()).toBeGreaterThan(6.99 * 24 * 3_600_000);
    expect(rest).toEqual(await introspected(token));
    expect(await spend(token, { amount: '3750.01' })).toMatchObject({
      verdict: 'refused',
      reason: 'over_budget',
      left: '3750',
    });
    expect(await spend(token, { amount: '3750' })).toMatchObject({ verdict: 'reserved', left: '0' });
    const logged = server.logLines
      .filter((line) => line.includes('"/oauth/spend"'))
      .map((line) => JSON.parse(line).outcome);
    expect(logged.slice(-3)).toEqual(['reserved', 'over_budget', 'reserved']);
    expect(verdictOf(await spend(token, { amount: '0.01' }))).toBe('over_budget');
  });

  it('that is repeated gets the same answer, and counts once', async () => {
    const token = await tokenOf('payment-shop.limit(7,150)');
    const form = payment(token, { amount: '100.0' });
    const first = await post('/oauth/spend', form);
    expect(await post('/oauth/spend', { ...form, amount: '100' })).toEqual(first);
    for (const change of [{ amount: '99' }, { shop: '338' }, { source: 'card' }])
      expect(await post('/oauth/spend', { ...form, ...change })).toMatchObject({
        verdict: 'key_reused',
        left: '50',
      });
  });

  it.each([
    [{ shop: '337' }, 'payment.to-pattern', '337'],
    [{ shop: '338' }, 'no_right', undefined],
    [{ to: '79990000000', type: 'phone' }, 'payment.to-account', '79990000000'],
    [{ to: '79990000000' }, 'no_right', undefined],
    [{ to: '４１００１' }, 'payment.to-account', '41001'],
    [{ right: 'payment-shop' }, 'no_right', undefined],
  ])('uses the budget of the right for exactly its receiver: %j', async (to, name, target) => {
    const token = await tokenOf(
      'payment.to-pattern("337").limit(1,200) payment.to-account("79990000000","phone").limit(1,200) payment.to-account("41001").limit(1,200)',
    );
    const { shop: _, ...rest } = payment(token);
    const answer = await post('/oauth/spend', { ...rest, ...to });
    const right = answer.right as Record<string, unknown> | undefined;
    expect([right?.right ?? answer.reason, right?.target]).toEqual([name, target]);
  });

  it('to a shop prefers the right for that shop, and never takes another budget', async () => {
    const token = await tokenOf('payment-p2p.limit(1,300) payment-shop.limit(1,100)');
    expect(verdictOf(await spend(token, { amount: '101' }))).toBe('over_budget');
    expect(verdictOf(await spend(token, { amount: '100' }))).toBe('reserved');
  });

  it('of a one-time right is one of exactly its amount, until the user allows it again', async () => {
    const fields = { scope: 'payment-shop.limit(,60)', instance_name: 'once' };
    const token = await tokenFor(client, fields);
    expect(verdictOf(await spend(token, { amount: '59' }))).toBe('other_amount');
    const paid = await spend(token, { amount: '60' });
    expect(paid).toMatchObject({ verdict: 'reserved', left: '0' });
    expect(paid).not.toHaveProperty('free_again');
    expect(verdictOf(await spend(token, { amount: '60' }))).toBe('used_up');
    const next = await tokenFor(client, fields);
    expect(verdictOf(await spend(next, { amount: '60' }))).toBe('reserved');
    expect(await spend(token)).toEqual({ status: 200, active: false });
  });

  it('keeps counting after a new authorization, whatever its limit', async () => {
    const fields = { scope: 'payment-shop.limit(7,5000)', instance_name: 'again' };
    expect(await spend(await tokenFor(client, fields), { amount: '4000' })).toMatchObject({ left: '1000' });
    const raised = await tokenFor(client, { ...fields, scope: 'payment-shop.limit(30,9000)' });
    expect(await spend(raised)).toMatchObject({ left: '4900' });
    const lowered = await tokenFor(client, { ...fields, scope: 'payment-shop.limit(7,3000)' });
    expect(await spend(lowered)).toMatchObject({ reason: 'over_budget', left: '0' });
    const other = await tokenFor(client, { ...fields, scope: 'payment.to-pattern("337").limit(7,500)' });
    expect(await spend(other)).toMatchObject({ left: '400' });
  });

  it('in another currency or from another source is refused', async () => {
    const token = await tokenOf('payment-shop.limit(7,500) money-source("card")');
    expect(verdictOf(await spend(token, { currency: 'EUR', source: 'card' }))).toBe('wrong_currency');
    expect(verdictOf(await spend(token))).toBe('wrong_source');
    expect(verdictOf(await spend(token, { source: 'card' }))).toBe('reserved');
  });

  it('of a scope without limits has no right', async () => {
    expect(await spend(await tokenOf('account-info'))).toMatchObject({
      verdict: 'refused',
      reason: 'no_right',
    });
  });

  it.each([
    [
      'revoked',
      (token: string) =>
        agent.post('/oauth/revoke', {
          token,
          client_id: client.clientId,
          client_secret: client.clientSecret ?? '',
        }),
    ],
    ['unknown', async () => undefined],
  ])('of a %s token is inactive', async (kind, end) => {
    const token = await tokenOf('payment-shop.limit(7,500)');
    await end(token);
    expect(await spend(kind === 'unknown' ? `${token.slice(0, -3)}xyz` : token)).toEqual({
      status: 200,
      active: false,
    });
  });
});

describe('a right with a largest payment or a last day', () => {
  const until = dayOf(monthsAfter(new Date(), 1));
  const [today, yesterday] = [new Date(), new Date(Date.now() - 24 * 3_600_000)].map(dayOf);
  /** As time would. */
  const endOn = (last: string | undefined) =>
    pool.query(`update grants set scope = regexp_replace(scope, 'until\\(.{10}', 'until(' || $1)`, [last]);

  it('refuses a payment above the largest, whatever is left of its budget', async () => {
    const token = await tokenOf('payment-shop.limit(7,5000).each(500.50)');
    const right = { right: 'payment-shop', period_days: 7, amount: '5000', largest: '500.50' };
    expect(await spend(token, { amount: '500.51' })).toMatchObject({
      verdict: 'refused',
      reason: 'over_largest',
      right: { ...right, currency: 'RUB' },
      left: '5000',
    });
    expect(await spend(token, { amount: '500.50' })).toMatchObject({ verdict: 'reserved', left: '4499.50' });
  });

  it('pays on its last day, and not after it', async () => {
    const token = await tokenOf(
      `account-info payment-shop.limit(7,5000).until(${until}) money-source("card")`,
    );
    const form = payment(token, { source: 'card' });
    const reserved = await post('/oauth/spend', form);
    expect(reserved).toMatchObject({ verdict: 'reserved', right: { until } });
    await endOn(today);
    expect(verdictOf(await spend(token, { source: 'card' }))).toBe('reserved');
    await endOn(yesterday);
    const refused = await spend(token, { source: 'card' });
    expect(refused).toMatchObject({
      verdict: 'refused',
      reason: 'ended',
      rights: [{ right: 'account-info' }, {}],
    });
    expect(refused.payment_limits).toEqual([]);
    // A repeat of what was reserved in time.
    expect(await post('/oauth/spend', form)).toMatchObject({
      verdict: 'reserved',
      payment_id: reserved.payment_id,
    });
  });
});

describe('a release', () => {
  it('gives the amount back once, and its key can’t be used again', async () => {
    const token = await tokenOf('payment-shop.limit(7,150)');
    const form = payment(token, { amount: '100' });
    const { grant_id } = await post('/oauth/spend', form);
    expect(verdictOf(await spend(token))).toBe('over_budget');
    expect(await release(grant_id, form.key)).toEqual({ status: 200, verdict: 'released' });
    expect(await release(grant_id, form.key)).toEqual({ status: 200, verdict: 'released' });
    expect(await post('/oauth/spend', form)).toMatchObject({ verdict: 'released', left: '150' });
    expect(await spend(token, { amount: '150' })).toMatchObject({ verdict: 'reserved', left: '0' });
  });

  it('works after a revocation, and names a payment that is not there', async () => {
    const token = await tokenOf('payment-shop.limit(7,150)');
    const form = payment(token);
    const { grant_id } = await post('/oauth/spend', form);
    await agent.post('/api/revoke', {}, { authorization: `Bearer ${token}` });
    expect(await release(grant_id, 'other')).toEqual({ status: 200, verdict: 'unknown' });
    expect(await release('x', form.key)).toEqual({ status: 200, verdict: 'unknown' });
    expect(await release(grant_id, form.key)).toEqual({ status: 200, verdict: 'released' });
  });

  it('of a payment that no longer counts is too late', async () => {
    const token = await tokenOf('payment-shop.limit(1,150)');
    const form = payment(token);
    const { grant_id } = await post('/oauth/spend', form);
    await pool.query(
      `update payment_reservations set paid_at = paid_at - interval '24 hours' where grant_id = $1`,
      [grant_id],
    );
    expect(await release(grant_id, form.key)).toEqual({ status: 200, verdict: 'too_late' });
    expect(await spend(token, { amount: '150' })).toMatchObject({ verdict: 'reserved' });
  });
});

describe('bad input', () => {
  it.each([
    ...['0', '-1', '1e3', '0.001', '1234567890123', '1,50', '', '007', '0.00'].map((amount) => ({ amount })),
    { currency: 'rub' },
    ...['x'.repeat(129), 'a\tb', 'ключ'].map((key) => ({ key })),
    { source: 'bank' },
    { shop: 'x'.repeat(1000) },
    { to: '41001' },
    { right: 'donate' },
    { shop: '' },
    { type: 'iban' },
    { token: '' },
  ])('is answered with a sentence: %j', async (fields) => {
    const token = await tokenOf('payment-shop.limit(7,500)');
    const answer = await spend(token, fields as Record<string, string>);
    const [name = ''] = Object.keys(fields);
    expect(answer).toMatchObject({ status: 400, error: 'invalid_request' });
    expect(answer.error_description).toMatch(/^The parameter (\w+) (is missing|must be .+)\.$/);
    if (!['to', 'right'].includes(name)) expect(answer.error_description).toContain(` ${name} `);
    expect(await introspected(token)).toMatchObject({ active: true });
  });

  it.each([
    ['no credentials', ''],
    ['a client’s credentials', `Basic ${btoa(`${client.clientId}:${client.clientSecret}`)}`],
  ])('without a resource server’s secret is 401: %s', async (_kind, authorization) => {
    const token = await tokenOf('payment-shop.limit(7,500)');
    for (const [path, form] of [
      ['/oauth/spend', payment(token)],
      ['/oauth/spend/release', { grant_id: user.userId, key: 'x' }],
    ] as const)
      expect(await post(path, form, authorization)).toMatchObject({ status: 401, error: 'invalid_client' });
  });

  it('by GET is refused', async () => {
    expect((await agent.get('/oauth/spend')).status).toBe(405);
  });
});

it('without SPENDING there is no such endpoint, and no page reads what is spent', async () => {
  const off = await useServer();
  expect(off.routes.filter((route) => route.includes('spend'))).toEqual([]);
  await off.database.pool.query('alter table payment_reservations rename to unread');
  const flow = await flowAt(off);
  const shop = await off.createClient();
  const asking = { scope: 'payment-shop.limit(7,500)' };
  await flow.tokenFor(shop, asking);
  const token = await flow.tokenFor(shop, asking); // the page compares it with the earlier authorization
  expect((await flow.agent.get('/oauth/account')).status).toBe(200);
  expect((await flow.introspected(token)).active).toBe(true);
});
