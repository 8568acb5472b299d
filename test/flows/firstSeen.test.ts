import { expect, it } from 'vitest';
import { authorize } from '../../src/flows/authorize/authorize.ts';
import { Parameters } from '../../src/rules/request/parameters.ts';
import { press } from '../support/account.ts';
import { decide, obtainCode, reachConsent, requestOf } from '../support/flow.ts';
import type { Agent } from '../support/http/agent.ts';
import { type TestClient, useServer } from '../support/server.ts';
import { signedInUser } from './signedIn.ts';

const server = await useServer();
const shop = await server.createClient();

/** What the next page is told of whether the user sees the application for the first time. */
async function isFirstSeen(agent: Agent, client: TestClient, fields = {}): Promise<boolean> {
  const query = new Parameters(new URLSearchParams(requestOf(client, fields)).toString());
  const cookies = { session: agent.cookies.get('assent_session') ?? null, preLogin: null };
  const step = await authorize(server.context, query, cookies);
  if (!('firstSeen' in step)) throw new Error(`the next page is ${step.step}`);
  return step.firstSeen;
}

it('an application is new until the user allows it something, also after a disconnection', async () => {
  const { user, agent } = await signedInUser(server);
  const [other, another] = [await server.createClient(), await signedInUser(server)];
  expect(await isFirstSeen(agent, shop)).toBe(true);
  expect(await isFirstSeen(agent, shop, { scope: 'payment-shop' })).toBe(true);
  await decide(agent, await reachConsent(agent, requestOf(shop), user), 'reject');
  expect(await isFirstSeen(agent, shop)).toBe(true);
  await obtainCode(agent, requestOf(shop, { instance_name: 'phone' }), user);
  for (const fields of [{}, { instance_name: 'phone' }, { instance_name: 'desk' }, { scope: 'payment-shop' }])
    expect(await isFirstSeen(agent, shop, fields)).toBe(false);
  await press(agent, await agent.get('/account'), '/account/disconnect');
  expect(await isFirstSeen(agent, shop)).toBe(false);
  expect([await isFirstSeen(agent, other), await isFirstSeen(another.agent, shop)]).toEqual([true, true]);
});
