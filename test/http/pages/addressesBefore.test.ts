import { expect, it } from 'vitest';
import { actorsAt, follow } from '../../support/account.ts';
import { codeOf, linkTo, requestOf, returnFrom } from '../../support/flow.ts';
import { Agent, type Answer, formWith } from '../../support/http/agent.ts';
import { converse } from '../../support/http/rawHttp.ts';
import { exchange, expectToken } from '../../support/http/tokenRequests.ts';
import { useServer } from '../../support/server.ts';

// An upgrade while users have pages of an earlier build open, which had them above `/oauth/`, and bookmarks of them.

const server = await useServer();

/** Sends a form of an earlier page, and again where the answer says so, as a browser does. */
async function send(agent: Agent, page: Answer, name: string, typed: Record<string, string>) {
  const { action, fields } = formWith(page, name);
  const sent = { ...fields, ...typed };
  const moved = await agent.post(action.replace('/oauth', ''), sent);
  return agent.post(moved.location ?? '', sent);
}

it('the forms of an open page still sign in, decide and confirm', async () => {
  const { client, user, agent } = await actorsAt(server);
  const { login, password, paymentPassword } = user;
  await send(agent, await agent.get('/oauth/account'), 'login', { login, password });
  const consent = await agent.get(linkTo(requestOf(client, { scope: 'payment-p2p' })));
  const pressed = await send(agent, consent, 'decision', { decision: 'allow' });
  const typed = { payment_password: paymentPassword ?? '' };
  const confirmed = await send(agent, await follow(agent, pressed), 'payment_password', typed);
  expectToken(await exchange(server, client, codeOf(await returnFrom(agent, confirmed))));
});

it.each([
  ...['/sign-in', '/sign-out', '/consent', '/confirm', '/language'].map((form) => ['POST', form] as const),
  ...['disconnect', 'disconnect-all', 'stop', 'warnings'].map(
    (form) => ['POST', `/account/${form}`] as const,
  ),
  ...['password', 'payment-password'].map((form) => ['POST', `/account/${form}`] as const),
  ...['', '/history?from=1-1', '/security', '/stop', '/password', '/payment-password'].map(
    (page) => ['GET', `/account${page}`] as const,
  ),
  ...['/confirm', '/receipt', '/return'].map((page) => ['GET', `${page}?a=b&decision=c%20d`] as const),
  ...['/style-0.css', '/form-0.js', '/brand/logo.svg', '/logo/x'].map((file) => ['GET', file] as const),
])(
  'a form, link or bookmark from before leads to the present address, by its method: %s %s',
  async (method, path) => {
    const moved = await new Agent(server.baseUrl).send(path, { method, headers: {} });
    expect([moved.status, moved.location]).toEqual([307, `${server.baseUrl}/oauth${path}`]);
    expect(moved.headers.get('cache-control')).toBe('no-store');
  },
);

it.each([
  ['/account/x%2Fy?a=%20b', '/oauth/account/x%2Fy?a=%20b'],
  ['http://evil.example/account?from', '/oauth/account?from'],
  ['/%61ccount', '/oauth/%61ccount'],
])('%s leads to our own address only', async (target, path) => {
  const bytes = `GET ${target} HTTP/1.1\r\nHost: evil.example\r\n\r\n`;
  const [moved] = (await converse(server.baseUrl, bytes, { answers: 1 })).answers;
  expect([moved?.status, moved?.headers.get('location')]).toEqual([307, [server.baseUrl + path]]);
});

it.each(['/accounts', '/signin', '/oauth/brand', '//account', '/x/account', '/formula'])(
  'no other path is moved: %s',
  async (path) => {
    expect((await new Agent(server.baseUrl).get(server.baseUrl + path)).status).toBe(404);
  },
);

it('/ leads to the account page', async () => {
  expect((await new Agent(server.baseUrl).get('/')).location).toBe(`${server.baseUrl}/oauth/account`);
});
