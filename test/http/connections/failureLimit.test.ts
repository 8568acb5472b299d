import { expect, it } from 'vitest';
import { obtainCode, requestOf, tokenRequestOf } from '../../support/flow.ts';
import { Agent } from '../../support/http/agent.ts';
import { useServer } from '../../support/server.ts';

const server = await useServer({ trustProxy: 1 });
const MOST = 1_000;

it('limits failures at the token endpoint per address with Retry-After, and still answers valid requests', async () => {
  const [client, user] = [await server.createClient(), await server.createUser()];
  const guesser = new Agent(server.baseUrl, { 'x-forwarded-for': '198.51.100.1' });
  const wrong = tokenRequestOf(client, 'never issued');
  for (let sent = 0; sent < MOST; sent += 20) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => guesser.post('/oauth/token', wrong)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(400));
  }
  const refused = await guesser.post('/oauth/token', wrong);
  expect(refused.status).toBe(429);
  expect(Object.fromEntries(refused.headers)).toMatchObject({
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'retry-after': expect.stringMatching(/^([1-9]|[1-5]\d|60)$/),
  });
  expect(JSON.parse(refused.body)).toMatchObject({ error: 'temporarily_unavailable' });

  const elsewhere = new Agent(server.baseUrl, { 'x-forwarded-for': '198.51.100.2' });
  expect((await elsewhere.post('/oauth/token', wrong)).status).toBe(400);
  const code = await obtainCode(elsewhere, requestOf(client), user);
  expect((await guesser.post('/oauth/token', tokenRequestOf(client, code))).status).toBe(200);
});
