import { describe, expect, it } from 'vitest';
import { flowAt } from '../contract/flowAt.ts';
import { fieldsFor, follow, signedIn } from '../support/account.ts';
import { confirm, linkTo, press, requestOf } from '../support/flow.ts';
import { Agent, formWith } from '../support/http/agent.ts';
import { changeClient } from '../support/operators.ts';
import { expectErrorPage } from '../support/pages.ts';
import { type TestClient, useServer } from '../support/server.ts';
import { open } from './browsers.ts';

// An attacker wants the code, or the browser of the victim, at an address of their own. The victim is signed in and has
// allowed the application before: a server that skips a page for a known application would skip it here.

const server = await useServer();

const { user: victim, agent: browser, tokenFor, writingNothing } = await flowAt(server);

/** An application at this address that the victim has a live token for. */
async function knownClient(redirectUri: string): Promise<TestClient> {
  const client = await server.createClient({ redirectUri });
  await tokenFor(client);
  return client;
}

/** Expects the error page for each address, posted and as a link, signed in and not, and that nothing is written. */
async function expectNoneTaken(client: TestClient, addresses: readonly string[]): Promise<void> {
  await writingNothing(async () => {
    for (const redirect_uri of addresses) {
      const request = requestOf(client, { redirect_uri });
      for (const agent of [browser, new Agent(server.baseUrl)]) {
        expectErrorPage(await agent.get(linkTo(request)), 'invalid_request');
        expectErrorPage(await agent.post('/oauth/authorize', request), 'invalid_request');
      }
    }
  });
}

const SHOP = 'https://shop.example/cb';
const APP = 'https://shop.example/app/';
const CASE = 'https://shop.example/callback';
const STAR = 'https://*.shop.example/cb.*';
const LOOPBACK = 'http://127.0.0.1:9000/cb';

/** Attacks that succeeded elsewhere; test/rules/redirectUri.test.ts tries every difference. */
const NOT_TAKEN: [what: string, registered: string, address: string][] = [
  ['with the registered URI encoded as user name', SHOP, 'https://shop%2eexample%2fcb%2f:y@evil.example/'],
  ['with the registered host as user name', SHOP, 'https://shop.example:443@evil.example/cb'],
  ['with dot segments in the path', APP, `${APP}../other`],
  ['with dot segments, percent-encoded twice', APP, `${APP}%252e%252e%252fother`],
  ['with a backslash after the registered host', SHOP, 'https://shop.example\\@evil.example/cb'],
  ['with a Cyrillic letter that looks the same', SHOP, 'https://ѕhop.example/cb'],
  ['with a full-width slash, which normalizes to a slash', SHOP, 'https://shop.example／cb'],
  ['with the path in upper case', CASE, 'https://shop.example/CALLBACK'],
  ['with the host in upper case', CASE, 'https://SHOP.example/callback'],
  ['that matches the registered one as a regular expression', STAR, 'https://*.shop.example/cbx*'],
  ['that matches the registered one as a wildcard pattern', STAR, 'https://evil.shop.example/cb.*'],
  ['at a subdomain', SHOP, 'https://evil.shop.example/cb'],
  ['at a host that begins with the registered one', SHOP, 'https://shop.example.evil.com/cb'],
  ['at a host that ends with the registered one', SHOP, 'https://evilshop.example/cb'],
  ['at the loopback address', SHOP, 'http://127.0.0.1/cb'],
  ['at another port of the loopback address', LOOPBACK, 'http://127.0.0.1:9001/cb'],
  ['at localhost instead of 127.0.0.1', LOOPBACK, 'http://localhost:9000/cb'],
  ['with a longer path', SHOP, `${SHOP}/evil`],
  ['with a fragment', SHOP, `${SHOP}?a=b#evil`],
  ['with a code parameter', SHOP, `${SHOP}?code=mine`],
  ['with token parameters', SHOP, `${SHOP}?a=b&access_token=mine&token_type=bearer&expires_in=9&scope=all`],
];

describe('a redirect_uri that resembles the registered one, or is parsed differently by a browser', () => {
  it.each(NOT_TAKEN)('is refused: %s [redirects-1]', async (_what, registered, address) => {
    await expectNoneTaken(await knownClient(registered), [address]);
  });

  it('is refused if it belongs to another application, although the user allowed both [redirects-2]', async () => {
    const one = await knownClient('https://one.example/cb');
    const other = await knownClient('https://two.example/cb');
    await expectNoneTaken(one, [other.redirectUri]);
    await expectNoneTaken(other, [one.redirectUri]);
  });
});

it('the page after Allow redirects only to the redirect URI that is then registered', async () => {
  const client = await server.createClient({ redirectUri: SHOP });
  const payer = await server.createUser();
  const tabs = await signedIn(server, payer);
  const request = await open(tabs, client, { scope: 'payment-shop' });
  const page = await follow(tabs, await press(tabs, request, 'allow'));
  const { location: receipt } = await confirm(tabs, page, payer.paymentPassword);
  const address = (receipt ?? '').replace('/oauth/receipt?', '/oauth/return?');
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
])('a redirect URI that runs a script is refused everywhere: %s [redirects-3]', async (redirectUri) => {
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
  'signing in or out redirects only to Assent, even if form and URL contain another address: %j [redirects-4]',
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
    const account = await stranger.get(`/oauth/account?${query}`);
    const left = await stranger.post(`/oauth/sign-out?${query}`, fieldsFor(account, '/oauth/sign-out'));
    expect(left.location).toBe(`${server.baseUrl}/oauth/account`);
  },
);
