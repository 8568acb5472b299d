// A payment API with the limits of docs/integrate/resources.md: `npm install pg`, create the table of ledger.sql, and run
// it with ASSENT_URL, RESOURCE_ID, RESOURCE_SECRET and LEDGER_URL in the environment.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';

const { ASSENT_URL, RESOURCE_ID, RESOURCE_SECRET, LEDGER_URL, PORT = '8090' } = process.env;
const statement = (name) => readFile(new URL(name, import.meta.url), 'utf8');
const [RESERVE, RELEASE] = await Promise.all(['reserve.sql', 'release.sql'].map(statement));
const ledger = new pg.Pool({ connectionString: LEDGER_URL });

/** The rights and limits of a token at this moment. Throws if Assent gives no answer. */
async function introspect(token, tries = 3) {
  const response = await fetch(`${ASSENT_URL}/oauth/introspect`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${RESOURCE_ID}:${RESOURCE_SECRET}`)}` },
    body: new URLSearchParams({ token }),
    signal: AbortSignal.timeout(8_000),
  }).catch(() => null);
  if (response?.ok) return response.json();
  const mayPass = response === null || response.status === 503;
  if (!mayPass || tries === 1) throw new Error(`introspection: ${response?.status ?? 'no answer'}`);
  await wait(1_000 * Number(response?.headers.get('retry-after') ?? 1));
  return introspect(token, tries - 1);
}

/** The right that pays: the most specific match. */
function rightFor({ shop, to, type = 'account' }, rights) {
  const [named, any] = shop ? ['payment.to-pattern', 'payment-shop'] : ['payment.to-account', 'payment-p2p'];
  const isNamed = ({ right, target, target_type }) =>
    right === named && target === (shop ?? to) && target_type === (shop ? undefined : type);
  return rights.find(isNamed) ?? rights.find(({ right }) => right === any);
}

/** The name of a right's budget. It leaves out the limit, and normalizes the target as Assent does (NFKC). */
function budgetOf({ right, target = null, target_type = null }) {
  return JSON.stringify([right, target?.normalize('NFKC'), target_type]);
}

async function reserve({ grant_id, iat }, right, payment) {
  const limit = [right.period_days ?? null, right.amount, right.largest ?? null];
  const { key, amount } = payment;
  const values = [grant_id, iat, key, JSON.stringify(payment), budgetOf(right), amount, ...limit];
  for (let tries = 1; ; tries += 1) {
    const { verdict } = (await ledger.query(RESERVE, values)).rows[0];
    if (verdict !== 'again') return verdict;
    if (tries > 5) await wait(20 * Math.random());
  }
}

/**
 * Replace this by your payment system. It moves the money once for each grant and key, and returns false if the money did not
 * move. If the outcome is unknown it throws, and the client sends the same payment again.
 */
async function moveMoney(_grantId, { shop }) {
  return shop !== 'closed'; // so that both outcomes can be tried
}

/** The status and result that the client receives. */
async function pay(token, payment) {
  const granted = await introspect(token);
  if (!granted.active) return [401, 'invalid_token'];
  const right = rightFor(payment, granted.rights);
  if (right?.currency !== payment.currency || !granted.money_sources.includes(payment.source)) {
    return [403, 'insufficient_scope'];
  }
  const verdict = await reserve(granted, right, payment);
  if (verdict === 'refused') return [403, 'limit_exceeded'];
  if (verdict !== 'reserved') return [409, verdict];
  if (await moveMoney(granted.grant_id, payment)) return [200, 'paid'];
  await ledger.query(RELEASE, [granted.grant_id, payment.key]);
  return [402, 'released'];
}

/** Checks a payment; null if it is invalid. Its amount stays decimal text, never a float. */
function parsePayment(body) {
  try {
    const { key, shop, to, type, amount, currency, source } = JSON.parse(body);
    const texts = [key, shop ?? to, amount, currency, source];
    if (!texts.every((value) => typeof value === 'string' && value !== '' && value.length <= 128))
      return null;
    if ((shop && to) || !/^\d{1,12}(\.\d{1,2})?$/.test(amount) || /^[0.]+$/.test(amount)) return null;
    return { key, shop, to, type, amount, currency, source };
  } catch {
    return null;
  }
}

async function answer(request) {
  if (request.method !== 'POST' || request.url !== '/payments') return [404, 'not_found'];
  if (!(Number(request.headers['content-length']) <= 4_000)) return [413, 'too_large'];
  const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (!token) return [401, 'invalid_token'];
  const payment = parsePayment(await text(request));
  return payment ? pay(token, payment) : [400, 'invalid_request'];
}

createServer(async (request, response) => {
  const [status, result] = await answer(request).catch((error) => {
    console.error(error.message);
    return [503, 'temporarily_unavailable'];
  });
  const headers = status === 401 ? { 'www-authenticate': 'Bearer error="invalid_token"' } : {};
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ result }));
}).listen(Number(PORT), 'localhost', () => console.log(`POST to http://localhost:${PORT}/payments`));
