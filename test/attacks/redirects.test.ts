import { describe, expect, it } from 'vitest';
import { Agent } from '../support/agent.ts';
import { codeOf, decide, obtainToken, reachConsent, requestOf } from '../support/flow.ts';
import { expectErrorPage } from '../support/pages.ts';
import { type TestClient, useServer } from '../support/server.ts';
import { contentsOf } from '../support/state.ts';
import { linkTo } from './browsers.ts';

// An attacker wants the code at an address of their own. The victim is signed in and has allowed the application
// before: whoever skips a page for what is known already would skip it here.

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
  const before = await contentsOf(server);
  for (const redirect_uri of addresses) {
    const request = requestOf(client, { redirect_uri });
    for (const agent of [browser, new Agent(server.baseUrl)]) {
      expectErrorPage(await agent.get(linkTo(request)), 'invalid_request');
      expectErrorPage(await agent.post('/oauth/authorize', request), 'invalid_request');
    }
  }
  expect(await contentsOf(server)).toEqual(before);
}

const SHOP = 'https://shop.example/cb';

/** Of each kind a few, all of which are held by test/rules/redirectUri.test.ts. */
const NOT_TAKEN: [what: string, registered: string, addresses: string[]][] = [
  [
    'takes no user name in front of the host, repeated or percent-encoded as the registered address',
    SHOP,
    [
      'https://shop%2eexample%2fcb%2f:y@evil.example/',
      'https://shop.example:443@evil.example/cb',
      'https://a@b@evil.example/cb',
      'https://@shop.example/cb',
    ],
  ],
  [
    'takes no path that climbs, plain, percent-encoded once or twice, or by a path parameter',
    'https://shop.example/app/',
    [
      'https://shop.example/app/../other',
      'https://shop.example/app/%2e%2e/other',
      'https://shop.example/app/%252e%252e%252fother',
      'https://shop.example/app/..;/other',
      'https://shop.example/other/../app/',
    ],
  ],
  [
    'takes no backslash, space, tab, line break or NUL that a browser turns into something else',
    SHOP,
    [
      'https://shop.example\\@evil.example/cb',
      'https://shop\t.example/cb',
      ' https://shop.example/cb',
      'https://shop.example/cb?a=b\r\nLocation: https://evil.example/',
      'https://shop.example/cb\0.evil.example',
    ],
  ],
  [
    'takes no letters that look the same or become the same when they are normalised',
    SHOP,
    [
      'https://shop。example/cb',
      'https://ѕhop.example/cb',
      'https://shop.example／cb',
      'https://shop.example/cb?a=\uff06code=mine',
      'https://xn--hop-hed.example/cb',
    ],
  ],
  [
    'takes no other upper and lower case, of the scheme, the host, the path or an escape',
    'https://shop.example/callback/%d0',
    [
      'https://shop.example/CALLBACK/%d0',
      'https://shop.example/callback/%D0',
      'https://SHOP.example/callback/%d0',
      'HTTPS://shop.example/callback/%d0',
    ],
  ],
  [
    'takes no sub-domain, no longer or shorter host, and no other one that ends or begins the same',
    SHOP,
    ['https://evil.shop.example/cb', 'https://shop.example.evil.com/cb', 'https://evilshop.example/cb'],
  ],
  [
    'takes no address that only begins with the registered one',
    SHOP,
    [`${SHOP}x`, `${SHOP}/evil`, `${SHOP};evil`, `${SHOP}#evil`, `${SHOP}?a=b#evil`, `${SHOP}%3fa=b`],
  ],
  [
    'takes a registered dot or star for the character that it is, never for a pattern',
    'https://*.shop.example/cb.*',
    ['https://evil.shop.example/cb.*', 'https://*.shop.example/cb.', 'https://*.shop.example/cbx'],
  ],
  [
    'takes no other name, host or port of the loopback than the registered one',
    'http://127.0.0.1:9000/cb',
    [
      'http://127.0.0.1:9001/cb',
      'http://localhost:9000/cb',
      'http://127.1:9000/cb',
      'http://2130706433:9000/cb',
      'http://127.0.0.1:9000@evil.example/cb',
    ],
  ],
];

describe('a redirect_uri that only resembles the registered one, or is read differently by a browser', () => {
  it.each(NOT_TAKEN)('%s', async (_what, registered, addresses) => {
    await expectNoneTaken(await knownClient(registered), addresses);
  });

  it('takes the address of no other application, although its user allowed both', async () => {
    const [one, other] = [
      await knownClient('https://one.example/cb'),
      await knownClient('https://two.example/cb'),
    ];
    await expectNoneTaken(one, [other.redirectUri]);
    await expectNoneTaken(other, [one.redirectUri]);
  });

  it('takes no code, state or error of somebody else in the address, and answers each once', async () => {
    const client = await knownClient('https://shop.example/cb');
    await expectNoneTaken(client, [
      'https://shop.example/cb?code=mine',
      'https://shop.example/cb?%63ode=mine',
      'https://shop.example/cb?a;code=mine',
      'https://shop.example/cb?a=b&access_token=mine&token_type=bearer&expires_in=9&scope=all',
    ]);
    const redirect_uri = 'https://shop.example/cb?codes=1&my_state=2';
    const page = await reachConsent(
      browser,
      requestOf(client, { redirect_uri, state: 's&code=mine' }),
      victim,
    );
    const answer = await decide(browser, page, 'allow');
    const { searchParams } = new URL(answer.location ?? '');
    expect(searchParams.getAll('code')).toEqual([codeOf(answer)]);
    expect(searchParams.getAll('state')).toEqual(['s&code=mine']);
  });
});

describe('an address that runs something', () => {
  it('sends no browser to a script or a document of the attacker: such an address is neither registered nor taken', async () => {
    const client = await knownClient('https://shop.example/cb');
    const scripts = [
      'javascript:alert(document.domain)',
      'JavaScript://shop.example/%0aalert(1)',
      'javascript:alert(1)//https://shop.example/cb',
      'data:text/html,<script>alert(1)</script>',
      'data:text/html;base64,PHNjcmlwdD4',
      'vbscript:msgbox(1)',
      'blob:https://shop.example/1',
      'file:///etc/passwd',
      'view-source:https://shop.example/cb',
    ];
    await expectNoneTaken(client, scripts);
    for (const redirectUri of [...scripts, 'javascript:*', 'data:*'])
      await expect(server.createClient({ redirectUri })).rejects.toThrow(
        "the redirect URI can't be registered",
      );
  });
});
