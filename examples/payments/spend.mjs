// A payment API whose limits Assent counts (SPENDING=on): run it with ASSENT_URL, RESOURCE_ID and RESOURCE_SECRET in the
// environment. docs/integrate/resources.md explains it.

import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const { ASSENT_URL, RESOURCE_ID, RESOURCE_SECRET, PORT = '8090' } = process.env;
const authorization = `Basic ${btoa(`${RESOURCE_ID}:${RESOURCE_SECRET}`)}`;

async function ask(path, form) {
  const body = new URLSearchParams(form);
  const request = { method: 'POST', headers: { authorization }, body, signal: AbortSignal.timeout(8_000) };
  const response = await fetch(`${ASSENT_URL}${path}`, request);
  return { status: response.status, ...(await response.json()) };
}

/** Replace this by your payment system. It moves the money once for each `payment_id`, and returns false if it did not move. */
async function moveMoney(_paymentId, { shop }) {
  return shop !== 'closed'; // so that both outcomes can be tried
}

/** The status and result that the client receives. An error is "unknown": the client sends the same payment again. */
async function pay(token, payment) {
  const answer = await ask('/oauth/spend', { token, ...payment });
  if (answer.status === 400) return [400, answer.error_description];
  if (answer.status !== 200) throw new Error(`spend: ${answer.status}`);
  if (!answer.active) return [401, 'invalid_token'];
  if (answer.verdict === 'refused') return [403, answer.reason];
  if (answer.verdict !== 'reserved') return [409, answer.verdict];
  if (await moveMoney(answer.payment_id, payment)) return [200, 'paid'];
  await ask('/oauth/spend/release', { grant_id: answer.grant_id, key: payment.key });
  return [402, 'released'];
}

createServer(async (request, response) => {
  const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const payment = Object.fromEntries(new URLSearchParams(await text(request)));
  const [status, result] = await pay(token, payment).catch(() => [503, 'temporarily_unavailable']);
  const headers = status === 401 ? { 'www-authenticate': 'Bearer error="invalid_token"' } : {};
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify({ result }));
}).listen(Number(PORT), 'localhost', () => console.log(`POST to http://localhost:${PORT}/payments`));
