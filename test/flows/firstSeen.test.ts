import { expect, it } from 'vitest';
import { authorize } from '../../src/flows/authorize/authorize.ts';
import { Parameters } from '../../src/rules/request/parameters.ts';
import { press } from '../support/account.ts';
import { Agent } from '../support/agent.ts';
import { decide, obtainCode, obtainToken, reachConsent, requestOf, signIn } from '../support/flow.ts';
import { type TestClient, type TestUser, useServer } from '../support/server.ts';

const server = await useServer();
const shop = await server.createClient();

async function signedIn(): Promise<{ user: TestUser; agent: Agent }> {
  const [user, agent] = [await server.createUser(), new Agent(server.baseUrl)];
  await signIn(agent, user.login, user.password);
  return { user, agent };
}

/** What the next page is told of whether the user sees the application for the first time. */
async function isFirstSeen(
  agent: Agent,
  client: TestClient,
  fields: Record<string, string> = {},
): Promise<boolean> {
  const query = new Parameters(new URLSearchParams(requestOf(client, fields)).toString());
  const cookies = { session: agent.cookies.get('assent_session') ?? null, preLogin: null };
  const step = await authorize(server.context, query, cookies);
  if (!('firstSeen' in step)) throw new Error(`the next page is ${step.step}`);
  return step.firstSeen;
}

it('an application is first seen until the user allows it something, under whatever name', async () => {
  const { user, agent } = await signedIn();
  const other = await server.createClient();
  expect(await isFirstSeen(agent, shop)).toBe(true);
  expect(await isFirstSeen(agent, shop, { scope: 'payment-shop' })).toBe(true);
  await decide(agent, await reachConsent(agent, requestOf(shop), user), 'reject');
  expect(await isFirstSeen(agent, shop)).toBe(true);
  await obtainCode(agent, requestOf(shop, { instance_name: 'phone' }), user);
  for (const fields of [
    {},
    { instance_name: 'phone' },
    { instance_name: 'desk' },
    { scope: 'payment-shop' },
  ]) {
    expect(await isFirstSeen(agent, shop, fields)).toBe(false);
  }
  expect(await isFirstSeen(agent, other)).toBe(true);
});

it('an application that was disconnected is not first seen, and one that others use is', async () => {
  const [one, another] = [await signedIn(), await signedIn()];
  await obtainToken(one.agent, shop, one.user);
  const after = await press(one.agent, await one.agent.get('/account'), '/account/disconnect');
  expect(after.forms.map(({ action }) => action)).toEqual(['/sign-out', '/account/stop', '/language']);
  expect(await isFirstSeen(one.agent, shop)).toBe(false);
  expect(await isFirstSeen(another.agent, shop)).toBe(true);
});
