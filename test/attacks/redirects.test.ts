import { describe, expect, it } from 'vitest';
import { fieldsFor, follow, signedIn } from '../support/account.ts';
import { confirm, linkTo, obtainToken, press, requestOf } from '../support/flow.ts';
import { Agent, formWith } from '../support/http/agent.ts';
import { changeClient } from '../support/operators.ts';
import { expectErrorPage } from '../support/pages.ts';
import { rowsOf } from '../support/postgres/rows.ts';
import { type TestClient, useServer } from '../support/server.ts';
import { open } from './browsers.ts';

// An attacker wants the code, or the browser of the victim, at an address of their own. The victim is signed in and has
// allowed the application before: a server that skips a page for a known application would skip it here.

const server = await useServer();

const victim = await server.createUser({ paymentPassword: null });
const browser = new Agent(server.baseUrl);

/** An application at this address that the victim has a live token for. */
async function knownClient(redirectUri: string): Promise<TestClient> {
  const client = await server.createClient({ redirectUri });
  await obtainToken(browser, client, victim);
  return client;
}

/** Expects the error page for each address, posted and as a link, signed in and not, and that nothing is written. */
async function expectNoneTaken(client: TestClient, addresses: readonly string[]): Promise<void> {
  const before = await rowsOf(server.database);
  for (const redirect_uri of addresses) {
    const request = requestOf(client, { redirect_uri });
    for (const agent of [browser, new Agent(server.baseUrl)]) {
      expectErrorPage(await agent.get(linkTo(request)), 'invalid_request');
      expectErrorPage(await agent.post('/oauth/authorize', request), 'invalid_request');
    }
  }
  expect(await rowsOf(server.database)).toEqual(before);
}

const SHOP = 'https://shop.example/cb';
const APP = 'https://shop.example/app/';
const CASE = 'https://shop.example/callback/%d0';
const STAR = 'https://*.shop.example/cb.*';
const LOOPBACK = 'http://127.0.0.1:9000/cb';

/** Attacks that succeeded elsewhere; test/rules/redirectUri.test.ts tries every difference. */
const NOT_TAKEN: [what: string, registered: string, address: string][] = [
  ['percent-encoded as a user name', SHOP, 'https://shop%2eexample%2fcb%2f:y@evil.example/'],
  ['with two user names in front of the host', SHOP, 'https://a@b@evil.example/cb'],
  ['as a user name', SHOP, 'https://shop.example:443@evil.example/cb'],
  ['with a path that climbs', APP, `${APP}../other`],
  ['with a path that climbs, percent-encoded twice', APP, `${APP}%252e%252e%252fother`],
  ['with a backslash', SHOP, 'https://shop.example\\@evil.example/cb'],
  ['with a line break', SHOP, `${SHOP}?a=b\r\nLocation: https://evil.example/`],
  ['with letters that look the same', SHOP, 'https://ѕhop.example/cb'],
  ['with letters that become the same when they are normalised', SHOP, 'https://shop.example／cb'],
  ['with a path in the other case', CASE, 'https://shop.example/CALLBACK/%d0'],
  ['with an escape in the other case', CASE, 'https://shop.example/callback/%D0'],
  ['with a host in the other case', CASE, 'https://SHOP.example/callback/%d0'],
  ['taken for a pattern, by its dot', STAR, 'https://*.shop.example/cbx*'],
  ['taken for a pattern, by its star', STAR, 'https://evil.shop.example/cb.*'],
  ['at a sub-domain', SHOP, 'https://evil.shop.example/cb'],
  ['at a host that only begins the same', SHOP, 'https://shop.example.evil.com/cb'],
  ['at a host that only ends the same', SHOP, 'https://evilshop.example/cb'],
  ['at the loopback', SHOP, 'http://127.0.0.1/cb'],
  ['as a user name, at the loopback', LOOPBACK, 'http://127.0.0.1:9000@evil.example/cb'],
  ['at another port of the loopback', LOOPBACK, 'http://127.0.0.1:9001/cb'],
  ['at another name of the loopback', LOOPBACK, 'http://localhost:9000/cb'],
  ['with more of a path', SHOP, `${SHOP}/evil`],
  ['with a fragment', SHOP, `${SHOP}?a=b#evil`],
  ['with a code', SHOP, `${SHOP}?code=mine`],
  ['with a code that is percent-encoded', SHOP, `${SHOP}?a;%63ode=mine`],
  ['with a token', SHOP, `${SHOP}?a=b&access_token=mine&token_type=bearer&expires_in=9&scope=all`],
];

describe('a redirect_uri that resembles the registered one, or is parsed differently by a browser', () => {
  it.each(NOT_TAKEN)('is refused: %s', async (_what, registered, address) => {
    await expectNoneTaken(await knownClient(registered), [address]);
  });

  it('is refused if it belongs to another application, although its user allowed both', async () => {
    const [one, other] = [
      await knownClient('https://one.example/cb'),
      await knownClient('https://two.example/cb'),
    ];
    await expectNoneTaken(one, [other.redirectUri]);
    await expectNoneTaken(other, [one.redirectUri]);
  });
});

it('the redirect from a receipt goes only to the address that is registered at that moment', async () => {
  const client = await server.createClient({ redirectUri: SHOP });
  const payer = await server.createUser();
  const tabs = await signedIn(server, payer);
  const request = await open(tabs, client, { scope: 'payment-shop' });
  const page = await follow(tabs, await press(tabs, request, 'allow'));
  const { location: receipt } = await confirm(tabs, page, payer.paymentPassword);
  const address = (receipt ?? '').replace('/receipt?', '/return?');
  expect((await tabs.get(address)).location).toMatch(`${SHOP}?code=`);
  const evil = encodeURIComponent('https://evil.example/');
  for (const path of [receipt ?? '', address])
    expectErrorPage(await tabs.get(path.replace(encodeURIComponent(SHOP), evil)), 'invalid_request');
  await changeClient(server.database.pool, client.clientId, { redirectUri: 'https://new.example/' }, 'olga');
  for (const path of [receipt ?? '', address]) expectErrorPage(await tabs.get(path), 'invalid_request');
});

it.each([
  'javascript:alert(1)//https://shop.example/cb',
  'JavaScript://shop.example/%0aalert(1)',
  'data:text/html,<script>alert(1)</script>',
  'javascript:*',
  'data:*',
])('an executable address is neither registered nor accepted: %s', async (redirectUri) => {
  await expectNoneTaken(await knownClient(SHOP), [redirectUri]);
  const registering = server.createClient({ redirectUri });
  await expect(registering).rejects.toThrow("the redirect URI can't be registered");
});

it.each([
  'https://evil.example/',
  '//evil.example/',
  '/\\evil.example',
  '/\t/evil.example',
  'javascript:alert(1)',
])(
  'the return address of Assent’s own forms leads only to Assent, whatever the form and the URL contain: %j',
  async (address) => {
    const names = ['next', 'return_to', 'redirect', 'rd', 'url', 'continue', 'redirect_uri'];
    const query = new URLSearchParams(names.map((name) => [name, address]));
    const stranger = new Agent(server.baseUrl);
    const page = await open(stranger, await knownClient(SHOP));
    const { action, fields } = formWith(page, 'login');
    const form = { ...fields, login: victim.login, password: victim.password };
    const signedIn = await stranger.post(`${action}?${query}`, form);
    expect(signedIn.location).toBe(`${server.baseUrl}/oauth/authorize?${fields.request}`);
    expectErrorPage(await stranger.post(action, { ...form, request: address }), 'invalid_request');
    const account = await stranger.get(`/account?${query}`);
    const left = await stranger.post(`/sign-out?${query}`, fieldsFor(account, '/sign-out'));
    expect(left.location).toBe(`${server.baseUrl}/account`);
  },
);
