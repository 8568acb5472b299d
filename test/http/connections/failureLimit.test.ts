import { expect, it } from 'vitest';
import { obtainCode, requestOf, tokenRequestOf } from '../../support/flow.ts';
import { Agent } from '../../support/http/agent.ts';
import { useServer } from '../../support/server.ts';

const server = await useServer({ trustProxy: 1 });
const MOST = 1_000;

/** Sends the same token request many times, some at once. @returns how often each status came */
async function repeat(
  times: number,
  agent: Agent,
  fields: Record<string, string>,
): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  const lane = async () => {
    for (let n = 0; n < times / 20; n += 1) {
      const { status } = await agent.post('/oauth/token', fields);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 20 }, lane));
  return statuses;
}

it('limits failures at the token endpoint per address with Retry-After, and still answers valid requests', async () => {
  const [client, user] = [await server.createClient(), await server.createUser()];
  const guesser = new Agent(server.baseUrl, { 'x-forwarded-for': '198.51.100.1' });
  const wrong = tokenRequestOf(client, 'never issued');
  expect(await repeat(MOST, guesser, wrong)).toEqual(new Map([[400, MOST]]));

  const refused = await guesser.post('/oauth/token', wrong);
  expect(refused.status).toBe(429);
  expect(refused.headers.get('content-type')).toBe('application/json');
  expect(refused.headers.get('cache-control')).toBe('no-store');
  const wait = Number(refused.headers.get('retry-after'));
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(60);
  expect(JSON.parse(refused.body)).toMatchObject({ error: 'temporarily_unavailable' });

  const elsewhere = new Agent(server.baseUrl, { 'x-forwarded-for': '198.51.100.2' });
  expect((await elsewhere.post('/oauth/token', wrong)).status).toBe(400);
  const code = await obtainCode(elsewhere, requestOf(client), user);
  expect((await guesser.post('/oauth/token', tokenRequestOf(client, code))).status).toBe(200);
});
