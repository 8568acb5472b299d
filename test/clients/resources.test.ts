import { readFileSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { dayOf, monthsAfter } from '../../src/rules/common/lifetimes.ts';
import { FURTHER_LIMITS } from '../../src/rules/request/scopeRules.ts';
import { obtainToken } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { useDatabase } from '../support/postgres/database.ts';
import { listen } from '../support/process/program.ts';
import { freePort, useServer } from '../support/server.ts';
import { callerOf } from './callers.ts';
import {
  describeWith,
  exampleFile,
  exampleNames,
  type RunningExample,
  runBlock,
  startExample,
  useExampleFolder,
} from './examples.ts';

// docs/integrate/resources.md: its payment API in examples/payments/ runs unchanged, with a real server. `ledger.test.ts` tests
// its statements alone.

const server = await useServer({ furtherLimits: FURTHER_LIMITS });
const [client, user] = await Promise.all([
  server.createClient(),
  server.createUser({ paymentPassword: null }),
]);
const { id, secret } = callerOf(await server.createResource());
const { pool, url } = await useDatabase();
const folder = useExampleFolder();
const running: RunningExample[] = [];

await pool.query(readFileSync(exampleFile('payments/ledger.sql'), 'utf8'));

afterAll(() => Promise.all(running.map((example) => example.stop())));

async function start(settings: Record<string, string> = {}): Promise<string> {
  const PORT = String(await freePort());
  const credentials = { RESOURCE_ID: id, RESOURCE_SECRET: secret };
  const variables = { ASSENT_URL: server.baseUrl, ...credentials, LEDGER_URL: url, PORT, ...settings };
  const example = startExample(process.execPath, exampleFile('payments/payments.mjs'), folder, variables);
  running.push(example);
  expect(await example.stdout.until(/^POST .+/m), example.stderr.text).toBeDefined();
  return `http://localhost:${PORT}`;
}

const api = await start();
const unused = `http://localhost:${await freePort()}`;
let sent = 0;

const SHOP = { shop: '337', amount: '100', currency: 'RUB', source: 'wallet' };

/** Sends a payment, under a new key unless one is given. @returns the status and the result */
async function pay(token: string, payment: object = {}, at = api): Promise<string> {
  sent += 1;
  const response = await fetch(`${at}/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: typeof payment === 'string' ? payment : JSON.stringify({ key: `key-${sent}`, ...SHOP, ...payment }),
  });
  const challenge = response.headers.get('www-authenticate') ?? '';
  expect(challenge).toBe(response.status === 401 ? 'Bearer error="invalid_token"' : '');
  return `${response.status} ${((await response.json()) as { result: string }).result}`;
}

const payments = async () => (await pool.query('select from payments')).rowCount;

const authorize = (scope: string, instance_name = scope, as = user) =>
  obtainToken(new Agent(server.baseUrl), client, as, { scope, instance_name });

const PAID = '200 paid';
const LIMIT = '403 limit_exceeded';
const NO_RIGHT = '403 insufficient_scope';

it('docs/integrate/resources.md has exactly the tested examples', () => {
  expect(exampleNames('resources.md')).toEqual(['spend', 'release-spend', 'pay']);
});

describe('the example payment API', () => {
  it('enforces the default limit for a right without a limit', async () => {
    const token = await authorize('payment-p2p');
    expect(await pay(token, { shop: undefined, to: '1', amount: '3000.01' })).toBe(LIMIT);
    expect(await pay(token, { shop: undefined, to: '1', amount: '3000.00' })).toBe(PAID);
  });

  it.each([
    ['payment-shop.limit(1,1050)', 10, PAID],
    ['payment-shop.limit(,100)', 1, LIMIT],
  ])('enforces a limit in two processes under concurrency: %s', async (scope, most, more) => {
    const token = await authorize(scope);
    const second = await start();
    const paying = Array.from({ length: 30 }, (_, n) => pay(token, {}, n % 2 === 0 ? api : second));
    const results = await Promise.all(paying);
    expect(results.toSorted()).toEqual([...Array(most).fill(PAID), ...Array(30 - most).fill(LIMIT)]);
    expect(await pay(token, { shop: 'another', amount: '50' })).toBe(more);
  });

  it('uses only the most specific right, even when its limit is used up', async () => {
    const scope =
      'payment.to-pattern("337").limit(1,100) payment.to-account("7","phone").limit(1,200) money-source("card")';
    const token = await authorize(`${scope} account-info`);
    const card = { source: 'card' };
    const phone = { ...card, shop: undefined, to: '7', type: 'phone', amount: '200' };
    expect(await pay(token, { ...card, shop: '338' })).toBe(NO_RIGHT);
    expect(await pay(token, card)).toBe(PAID);
    expect(await pay(token, card)).toBe(LIMIT);
    expect(await pay(token, { ...phone, type: 'account' })).toBe(NO_RIGHT);
    expect(await pay(token, phone)).toBe(PAID);
    expect(await pay(token, phone)).toBe(LIMIT);
  });

  it('refuses a payment above the largest one', async () => {
    const token = await authorize('payment-shop.limit(7,5000).each(500)');
    expect(await pay(token, { amount: '500.01' })).toBe(LIMIT);
    expect(await pay(token, { amount: '500' })).toBe(PAID);
  });

  it('pays nothing by a right that has ended, and goes on with the others of its token', async () => {
    const last = dayOf(monthsAfter(new Date(), 1));
    const token = await authorize(`payment-shop.limit(7,5000).until(${last}) payment-p2p`, 'ends');
    expect(await pay(token)).toBe(PAID);
    const yesterday = dayOf(new Date(Date.now() - 24 * 3_600_000));
    await server.database.pool.query('update grants set scope = replace(scope, $1, $2)', [last, yesterday]);
    expect(await pay(token)).toBe(NO_RIGHT);
    expect(await pay(token, { shop: undefined, to: '1' })).toBe(PAID);
  });

  it.each([
    ['another currency', { currency: 'USD' }],
    ['another money source', { source: 'card' }],
    ['a person instead of a shop', { shop: undefined, to: '337' }],
  ])('refuses a payment with %s', async (_, change) => {
    const token = await authorize('payment-shop');
    expect(await pay(token, change)).toBe(NO_RIGHT);
  });

  it('refuses tokens that are invalid, revoked or without a payment right', async () => {
    const token = await authorize('account-info');
    expect(await pay(token)).toBe(NO_RIGHT);
    expect(await pay('nothing')).toBe('401 invalid_token');
    const spending = await authorize('payment-shop');
    expect(await pay(spending)).toBe(PAID);
    const headers = { authorization: `Bearer ${spending}` };
    await fetch(`${server.baseUrl}/api/revoke`, { method: 'POST', headers });
    expect(await pay(spending)).toBe('401 invalid_token');
  });
});

describe('a new authorization', () => {
  it('counts earlier payments against its own limit', async () => {
    const earlier = await authorize('payment-shop.limit(1,500)', 'again');
    expect(await pay(earlier, { amount: '400' })).toBe(PAID);
    const lower = await authorize('payment-shop.limit(30,300)', 'again');
    expect(await pay(earlier, { amount: '100' })).toBe('401 invalid_token');
    expect(await pay(lower, { amount: '0.01' })).toBe(LIMIT);
    const higher = await authorize('payment-shop.limit(1,900)', 'again');
    expect(await pay(higher, { amount: '500.01' })).toBe(LIMIT);
    expect(await pay(higher, { amount: '500' })).toBe(PAID);
  });

  it('has the same budget if its target is written differently', async () => {
    const narrow = await authorize('payment.to-pattern("12").limit(1,100)', 'wide');
    expect(await pay(narrow, { shop: '12' })).toBe(PAID);
    const wide = await authorize('payment.to-pattern("１２").limit(1,100)', 'wide');
    expect(await pay(wide, { shop: '12' })).toBe(NO_RIGHT);
    expect(await pay(wide, { shop: '１２' })).toBe(LIMIT);
  });

  it('permits one more one-time payment, of exactly its amount', async () => {
    const scope = 'payment-shop.limit(,100)';
    const first = await authorize(scope, 'once');
    for (const amount of ['99.99', '100.01']) expect(await pay(first, { amount })).toBe(LIMIT);
    expect([await pay(first), await pay(first)]).toEqual([PAID, LIMIT]);
    // `iat` has whole seconds: the next is issued in another one.
    await pool.query('update payments set authorized_at = authorized_at - 2');
    const next = await authorize(scope, 'once');
    expect([await pay(next), await pay(next)]).toEqual([PAID, LIMIT]);
  });
});

describe('a payment', () => {
  it('with a repeated key is made only once, also under a new authorization', async () => {
    const payment = { key: 'order-7' };
    const token = await authorize('payment-shop.limit(1,100)', 'repeat');
    const results = await Promise.all([pay(token, payment), pay(token, payment), pay(token, payment)]);
    expect(results).toEqual([PAID, PAID, PAID]);
    const next = await authorize('payment-shop.limit(1,150)', 'repeat');
    expect(await pay(next, payment)).toBe(PAID);
    expect(await pay(next, { amount: '50' })).toBe(PAID);
    expect(await pay(next, { ...payment, amount: '1' })).toBe('409 key_reused');
    expect(await pay(next, { ...payment, shop: '338' })).toBe('409 key_reused');
  });

  const ONE_OF_100 = ['payment-shop.limit(,100)', 'payment-shop.limit(2,100)'];

  it.each(ONE_OF_100)('restores the budget if it fails, and its key can’t be reused: %s', async (scope) => {
    const token = await authorize(scope);
    const closed = { key: 'order-1', shop: 'closed' };
    expect(await pay(token, closed)).toBe('402 released');
    expect(await pay(token, closed)).toBe('409 released');
    expect(await pay(token)).toBe(PAID);
    expect(await pay(token)).toBe(LIMIT);
  });

  const AMOUNTS = ['1e3', '0.00', '-1', '1.005', '1,5', ' 1', 'NaN', 'Infinity', 5, '1234567890123'];

  it.each([
    ...AMOUNTS.map((amount) => ({ amount })),
    ...[{ key: '' }, { key: 'k'.repeat(129) }, { shop: undefined }, { to: '1' }, { source: null }],
    ...['', 'null', '[]', '{', '"x"'],
  ])('is refused if it is invalid: %o', async (payment) => {
    const token = await authorize('payment-shop.limit(9999,999999999999.99)', 'bad');
    const before = await payments();
    expect(await pay(token, payment as object)).toBe('400 invalid_request');
    expect(await payments()).toBe(before);
  });
});

describe('the example payment API, when introspection fails', () => {
  it.each([
    ['is unreachable', { ASSENT_URL: unused }],
    ['refuses the API’s credentials', { RESOURCE_SECRET: 'f'.repeat(64) }],
  ])('permits no payment if Assent %s', async (_, settings) => {
    const token = await authorize('payment-shop', 'away');
    const before = await payments();
    expect(await pay(token, {}, await start(settings))).toBe('503 temporarily_unavailable');
    expect(await payments()).toBe(before);
  });

  it.each([
    [2, PAID],
    [3, '503 temporarily_unavailable'],
  ])('retries introspection; the response to a payment after %s errors is "%s"', async (busy, result) => {
    const token = await authorize('payment-shop', 'busy');
    const [reached, address] = await startBusy(busy);
    expect(await pay(token, {}, await start({ ASSENT_URL: address }))).toBe(result);
    expect(reached.length).toBe(3);
  });

  async function startBusy(times: number): Promise<[reached: string[], address: string]> {
    const reached: string[] = [];
    const proxy = createServer((request, response) => {
      reached.push(request.url ?? '');
      if (reached.length <= times) return response.writeHead(503, { 'retry-after': '0' }).end();
      const { method, headers } = request;
      const onwards = forward(server.baseUrl + request.url, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      });
      return request.pipe(onwards);
    });
    onTestFinished(() => void proxy.close());
    return [reached, `http://localhost:${await listen(proxy, 'localhost')}`];
  }
});

describeWith(['bash', 'curl'], 'The curl command of docs/integrate/resources.md', () => {
  it('makes a payment', async () => {
    const variables = { PAYMENTS_URL: api, ACCESS_TOKEN: await authorize('payment-shop', 'curl') };
    expect(await runBlock('pay', variables, 'resources.md')).toEqual({ result: 'paid' });
  });
});
