import { expect, it } from 'vitest';
import { BUILT_IN_BRAND } from '../../../src/rules/face/brand.ts';
import { confirm, press, reachConsent, requestOf } from '../../support/flow.ts';
import { Agent } from '../../support/http/agent.ts';
import { converse } from '../../support/http/rawHttp.ts';
import { useServer } from '../../support/server.ts';

// An upgrade while users have pages of an earlier build open, which had them above `/oauth/`, and bookmarks of them.

const server = await useServer({ brand: BUILT_IN_BRAND });
const client = await server.createClient();
const user = await server.createUser();

/** Where a page, or the form in it, was before. */
const before = (path: string) => path.replace(/^\/oauth/, '');

it.each(['sign-in', 'sign-out', 'consent', 'confirm', 'language', 'account/disconnect', 'account/password'])(
  'a form of an open page is sent on to its address, by the same method and with its body: %s',
  async (form) => {
    const moved = await new Agent(server.baseUrl).post(`/${form}`, { login: 'x' });
    expect([moved.status, moved.location]).toEqual([307, `${server.baseUrl}/oauth/${form}`]);
    expect(moved.headers.get('cache-control')).toBe('no-store');
  },
);

it('the links of an open page, and bookmarks, lead to the page with their query', async () => {
  const agent = new Agent(server.baseUrl);
  const consent = await reachConsent(agent, requestOf(client, { scope: 'payment-p2p' }), user);
  const { location } = await press(agent, consent, 'allow');
  const confirmation = (location ?? '').slice(server.baseUrl.length);
  const style = /href="(\/oauth\/style-[^"]+)"/.exec(consent.body)?.[1] ?? '';
  const own = ['', '/history', '/history?from=1-1', '/security', '/stop', '/password', '/payment-password'];
  for (const path of [confirmation, style, ...own.map((each) => `/oauth/account${each}`)]) {
    const moved = await agent.get(before(path));
    expect([moved.status, moved.location]).toEqual([307, server.baseUrl + path]);
    expect({ path, status: (await agent.get(path)).status }).toEqual({ path, status: 200 });
  }
  const confirmed = await confirm(agent, await agent.get(confirmation), user.paymentPassword);
  const receipt = (confirmed.location ?? '').slice(server.baseUrl.length);
  for (const path of [receipt, receipt.replace('/receipt', '/return')])
    expect((await agent.get(before(path))).location).toBe(server.baseUrl + path);
});

it.each([
  ['/account/x%2Fy?a=%20b', '/oauth/account/x%2Fy?a=%20b'],
  ['http://evil.example/account?from', '/oauth/account?from'],
  ['/%61ccount', '/oauth/%61ccount'],
])('%s leads to our own address only', async (target, path) => {
  const {
    answers: [moved],
  } = await converse(server.baseUrl, `GET ${target} HTTP/1.1\r\nHost: evil.example\r\n\r\n`, {
    answers: 1,
  });
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
