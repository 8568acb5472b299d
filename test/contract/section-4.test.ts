import { describe, expect, it } from 'vitest';
import { Agent, type Answer, formWith } from '../support/agent.ts';
import {
  codeOf,
  decide,
  obtainCode,
  obtainToken,
  reachConsent,
  requestOf,
  tokenRequestOf,
} from '../support/flow.ts';
import { expectErrorPage } from '../support/pages.ts';
import { useServer } from '../support/server.ts';
import { contentsOf, expireCode, isLive } from '../support/state.ts';
import {
  change,
  documentOf,
  exchange,
  expectToken,
  expectTokenError,
  type Fields,
  postToken,
} from '../support/tokenRequests.ts';
import { useTimeMachine } from './timeMachine.ts';

const server = await useServer();

const FORM = 'application/x-www-form-urlencoded';

const user = await server.createUser({ paymentPassword: null });
const agent = new Agent(server.baseUrl);
const resource = await server.createResource();
const shop = await server.createClient();
await reachConsent(agent, requestOf(shop), user);

function queryOf(fields: Fields): string {
  return new URLSearchParams(fields).toString();
}

function urlOf(fields: Fields): string {
  return `/oauth/authorize?${queryOf(fields)}`;
}

describe('contract 4.1: ways to send the authorization request', () => {
  it('4.1 takes the posted form to the service’s own pages with a 303', async () => {
    const answer = await agent.post('/oauth/authorize', requestOf(shop));
    expect(answer.status).toBe(303);
    expect(answer.location?.startsWith(`${server.baseUrl}/oauth/authorize?`)).toBe(true);
    expect((await agent.get(answer.location ?? '')).page).toBe('consent');
  });

  it.each([{ 'content-type': FORM }, {} as Fields, { 'content-type': 'application/json' }])(
    '4.1 takes the parameters from the URL of a POST with an empty body (%j)',
    async (headers) => {
      const answer = await agent.send(urlOf(requestOf(shop)), { method: 'POST', headers });
      expect(answer.status).toBe(303);
      expect((await agent.get(answer.location ?? '')).page).toBe('consent');
    },
  );

  it('4.1 refuses parameters in the body and in the URL at once', async () => {
    const fields = requestOf(shop);
    const { scope, ...rest } = fields;
    expectErrorPage(await agent.post(urlOf(fields), fields), 'invalid_request');
    expectErrorPage(await agent.post(urlOf({ scope: scope ?? '' }), rest), 'invalid_request');
    expectErrorPage(await agent.post(urlOf({ state: 'x' }), fields), 'invalid_request');
  });

  it('4.1 takes a body beside parameters in the URL that mean nothing here', async () => {
    const answer = await agent.post('/oauth/authorize?utm_source=mail', requestOf(shop));
    expect(answer.status).toBe(303);
    expect(answer.location).not.toContain('utm_source');
  });

  it('4.1 makes a URL that works in any other browser, and again after a reload', async () => {
    const client = await server.createClient();
    const answer = await new Agent(server.baseUrl).post(
      '/oauth/authorize',
      requestOf(client, { state: 's 1' }),
    );
    const browser = new Agent(server.baseUrl);
    const url = answer.location ?? '';
    const { login, password } = user;
    const page = await browser.get(url);
    expect(page.page).toBe('sign-in');
    const shown = ({ body }: Answer) => body.replace(/name="form_token" value="[\w-]+"/, '');
    expect(shown(await browser.get(url))).toBe(shown(page));
    const signedIn = await browser.submit(page, 'login', { login, password });
    expect(signedIn.location).toBe(url);
    await browser.get(url);
    const end = await decide(browser, await browser.get(url), 'allow');
    expect(end.location).toBe(`${client.redirectUri}?state=s%201&code=${codeOf(end)}`);
  });

  it('4.1 carries on in that URL only what means something, in one order, spaces as %20', async () => {
    const known = {
      client_id: shop.clientId,
      response_type: 'code',
      redirect_uri: shop.redirectUri,
      scope: 'account-info operation-history',
      instance_name: 'Иван +1',
      state: 'a b+c',
    };
    const sent = { ...known, client_secret: shop.clientSecret ?? '', theme: 'dark', password: 'p' };
    const query = Object.entries(known).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const location = `${server.baseUrl}/oauth/authorize?${query.join('&')}`;
    const reversed = Object.fromEntries(Object.entries(sent).reverse());
    for (const fields of [sent, reversed, { ...sent, code_challenge: '' }])
      expect((await agent.post('/oauth/authorize', fields)).location).toBe(location);
  });

  it('4.1 writes nothing while nobody has decided', async () => {
    const before = await contentsOf(server);
    await agent.get(urlOf(requestOf(shop)));
    const browser = new Agent(server.baseUrl);
    await browser.get((await browser.post('/oauth/authorize', requestOf(shop))).location ?? '');
    expect(await contentsOf(server)).toEqual(before);
  });
});

describe('contract 4: encoding of the bodies', () => {
  it.each([FORM, `${FORM}; charset=UTF-8`, `${FORM};charset=utf-8`, 'Application/X-WWW-Form-URLEncoded'])(
    '4 takes a form body of both endpoints as %s',
    async (type) => {
      const client = await server.createClient();
      const headers = { 'content-type': type };
      const answer = await agent.post('/oauth/authorize', requestOf(client), headers);
      const code = codeOf(await decide(agent, await agent.get(answer.location ?? ''), 'allow'));
      expectToken(await postToken(server, tokenRequestOf(client, code), headers));
    },
  );

  it('4 reads UTF-8, percent-encoded or not', async () => {
    const encoded = queryOf(requestOf(shop));
    for (const name of ['Иван 💳', encodeURIComponent('Иван 💳'), '%d0%98%D0%B2ан+%F0%9F%92%B3']) {
      const answer = await agent.post('/oauth/authorize', `${encoded}&instance_name=${name}`);
      expect((await agent.get(answer.location ?? '')).text).toContain('Иван 💳');
    }
  });

  it('4 does not care about bad encoding in what it ignores', async () => {
    const answer = await agent.post('/oauth/authorize', `${queryOf(requestOf(shop))}&x=%FF&%ZZ=1&y=%`);
    expect(answer.status).toBe(303);
  });

  it('4.1 takes a state of 5,000 characters', async () => {
    const taken = await agent.post('/oauth/authorize', requestOf(shop, { state: 'x'.repeat(5000) }));
    expect((await agent.get(taken.location ?? '')).page).toBe('consent');
  });
});

const STATES = [
  'xyz',
  'a b',
  'a+b',
  'a%20b',
  '%',
  '%2B+%2b',
  '"quoted" \'too\' <b>&amp;</b>',
  'a=b&code=mine&error=none#part;?',
  'Привет, 世界 💳',
  'e\u0301 \u00e9',
  'line\r\nSet-Cookie: a=b',
  ' ',
  '-._~!*()',
  'eyJhIjoxfQ==',
];

describe('contract 4.1: the redirect to the application', () => {
  it.each(STATES)('4.1 gives state back byte for byte, before code and before error: %j', async (state) => {
    const client = await server.createClient();
    const request = requestOf(client, { state });
    const echo = `${client.redirectUri}?state=${encodeURIComponent(state)}`;
    const refused = await decide(agent, await reachConsent(agent, request, user), 'reject');
    expect(refused.location).toBe(`${echo}&error=access_denied`);
    const allowed = await decide(agent, await reachConsent(agent, request, user), 'allow');
    expect(allowed.location).toBe(`${echo}&code=${codeOf(allowed)}`);
    expect(new URL(allowed.location ?? '').searchParams.get('state')).toBe(state);
    expect(allowed.location).not.toContain('+');
  });

  it.each([{}, { state: '' }])('4.1 gives no state back where none was sent: %j', async (fields) => {
    const client = await server.createClient();
    const refused = await decide(agent, await reachConsent(agent, requestOf(client, fields), user), 'reject');
    expect(refused.location).toBe(`${client.redirectUri}?error=access_denied`);
    const allowed = await decide(agent, await reachConsent(agent, requestOf(client, fields), user), 'allow');
    expect(allowed.location).toBe(`${client.redirectUri}?code=${codeOf(allowed)}`);
  });

  it('4.1 answers the decision with 302, which nobody keeps and which sends no Referer', async () => {
    for (const decision of ['reject', 'allow'] as const) {
      const answer = await decide(agent, await reachConsent(agent, requestOf(shop), user), decision);
      expect(answer.status).toBe(302);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    }
  });
});

const FORGED: [what: string, changes: (fields: Fields) => Record<string, string | undefined>][] = [
  ['without its token', () => ({ decision_token: undefined })],
  ['with an empty token', () => ({ decision_token: '' })],
  [
    'for more rights',
    ({ request = '' }) => ({ request: request.replace(/scope=[^&]*/, 'scope=payment-p2p') }),
  ],
  ['for another instance', ({ request = '' }) => ({ request: `${request}&instance_name=x` })],
  ['with another state', ({ request = '' }) => ({ request: `${request}&state=x` })],
  [
    'for another redirect_uri',
    ({ request = '' }) => ({ request: request.replace('callback', 'callback%3Fa=b') }),
  ],
];

describe('contract 4.1: a form that does not fit any more changes nothing', () => {
  /** Sends the form of a consent page, changed, and expects it to be shown afresh. */
  async function expectStale(browser: Agent, fields: Fields, headers: Fields = {}): Promise<void> {
    for (const decision of ['allow', 'reject']) {
      const before = await contentsOf(server);
      const answer = await browser.post('/consent', { ...fields, decision }, headers);
      expect(answer.status).toBe(303);
      expect(answer.location?.startsWith(`${server.baseUrl}/oauth/authorize?client_id=`)).toBe(true);
      expect(await contentsOf(server)).toEqual(before);
    }
  }

  it.each(FORGED)('4.1 takes no decision %s', async (_what, changes) => {
    const page = await reachConsent(agent, requestOf(await server.createClient()), user);
    const { fields } = formWith(page, 'decision');
    await expectStale(agent, change(fields, changes(fields)));
  });

  it('4.1 takes no decision that is neither allow nor reject', async () => {
    const page = await reachConsent(agent, requestOf(await server.createClient()), user);
    const { fields } = formWith(page, 'decision');
    const before = await contentsOf(server);
    for (const decision of [undefined, '', 'Allow', 'allow ']) {
      const answer = await agent.post('/consent', change(fields, { decision }));
      expect(answer.status).toBe(303);
    }
    expect(await contentsOf(server)).toEqual(before);
  });

  it('4.1 takes no decision from another session, another user or nobody', async () => {
    const client = await server.createClient();
    const page = await reachConsent(agent, requestOf(client), user);
    const { fields } = formWith(page, 'decision');
    const sameUser = new Agent(server.baseUrl);
    const otherUser = new Agent(server.baseUrl);
    await reachConsent(sameUser, requestOf(client), user);
    await reachConsent(otherUser, requestOf(client), await server.createUser());
    for (const browser of [sameUser, otherUser, new Agent(server.baseUrl)])
      await expectStale(browser, fields);
    expect((await decide(agent, page, 'allow')).status).toBe(302);
  });

  it('4.1 allows nothing by a form older than what was allowed since, and shows the request afresh', async () => {
    const client = await server.createClient();
    const old = await reachConsent(agent, requestOf(client, { scope: 'payment-p2p' }), user);
    const token = await obtainToken(agent, client, user);
    const before = await contentsOf(server);
    const answer = await decide(agent, old, 'allow');
    expect(answer.status).toBe(303);
    expect(await contentsOf(server)).toEqual(before);
    expect(await isLive(server, resource, token)).toBe(true);
    const fresh = await agent.get(answer.location ?? '');
    expect(fresh.page).toBe('consent');
    expect(fresh.text).toContain('Transfer money to anyone');
    expect(fresh.text).toContain('it replaces the access that you gave');
    expect((await decide(agent, fresh, 'allow')).status).toBe(302);
  });
});

describe('contract 4.1: a decision is taken once', () => {
  it('4.1 answers Allow pressed twice with the same redirect, one authorization', async () => {
    const client = await server.createClient();
    const page = await reachConsent(agent, requestOf(client, { state: 's' }), user);
    const first = await decide(agent, page, 'allow');
    const before = await contentsOf(server);
    const second = await decide(agent, page, 'allow');
    expect([second.status, second.location]).toEqual([302, first.location]);
    expect(await contentsOf(server)).toEqual(before);
    expectToken(await exchange(server, client, codeOf(second)));
  });

  it.each(['exchanged', 'expired'])(
    '4.1 says so when Allow is pressed again and the code is %s',
    async (how) => {
      const client = await server.createClient();
      const page = await reachConsent(agent, requestOf(client), user);
      const code = codeOf(await decide(agent, page, 'allow'));
      const token = how === 'exchanged' ? expectToken(await exchange(server, client, code)) : null;
      if (how === 'expired') await expireCode(server, client);
      const before = await contentsOf(server);
      const again = await decide(agent, page, 'allow');
      expect([again.status, again.page, again.location]).toEqual([200, 'notice', null]);
      expect(again.text).toContain('You already allowed this');
      expect(await contentsOf(server)).toEqual(before);
      if (token !== null) expect(await isLive(server, resource, token)).toBe(true);
      expectTokenError(await exchange(server, client, code), 'invalid_grant');
    },
  );

  it('4.1 says so when Reject is pressed after Allow, and takes nothing back', async () => {
    const client = await server.createClient();
    const page = await reachConsent(agent, requestOf(client), user);
    const code = codeOf(await decide(agent, page, 'allow'));
    const before = await contentsOf(server);
    const answer = await decide(agent, page, 'reject');
    expect([answer.status, answer.page, answer.location]).toEqual([200, 'notice', null]);
    expect(answer.text).toContain('You already allowed this');
    expect(answer.text).toContain('disconnect');
    expect(answer.body).toContain('href="/account"');
    expect(await contentsOf(server)).toEqual(before);
    expectToken(await exchange(server, client, code));
  });

  it('4.1 gives a code of its own to each page that is allowed, and only the last one is worth a token', async () => {
    const client = await server.createClient();
    const codes = [];
    for (let times = 0; times < 3; times += 1) codes.push(await obtainCode(agent, requestOf(client), user));
    expect(new Set(codes).size).toBe(3);
    const answers = await Promise.all(codes.map((code) => exchange(server, client, code)));
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 200]);
  });

  it('4.1 shows a page when the application was registered with another redirect_uri before the decision', async () => {
    const client = await server.createClient();
    const page = await reachConsent(agent, requestOf(client), user);
    await server.database.pool.query('update clients set redirect_uri = $2 where client_id = $1', [
      client.clientId,
      'https://new.example/',
    ]);
    const before = await contentsOf(server);
    expectErrorPage(await decide(agent, page, 'allow'), 'invalid_request');
    expectErrorPage(await decide(agent, page, 'reject'), 'invalid_request');
    expect(await contentsOf(server)).toEqual(before);
  });
});

describe('contract 4.1: a page that was open for long', async () => {
  const time = await useTimeMachine();

  it.each([
    ['2018-06-01T12:14:59.999Z', 302],
    ['2018-06-01T12:15:00.000Z', 303],
  ])('4.1 opened at 12:00 and allowed at %s answers %i', async (moment, status) => {
    await time.travelTo('2018-06-01T12:00:00Z');
    const client = await time.server.createClient();
    const browser = new Agent(time.server.baseUrl);
    const page = await reachConsent(browser, requestOf(client), await time.server.createUser());
    await time.travelTo(moment);
    const before = await contentsOf(time.server);
    const answer = await decide(browser, page, 'allow');
    expect(answer.status).toBe(status);
    if (status === 303) expect(await contentsOf(time.server)).toEqual(before);
  });
});

const TOKEN_ANSWERS: [what: string, status: number, answer: () => Promise<Answer>][] = [
  ['success', 200, async () => exchange(server, shop, await obtainCode(agent, requestOf(shop), user))],
  ['invalid_grant', 400, () => exchange(server, shop, 'none')],
  ['invalid_request', 400, () => postToken(server, {})],
  ['unauthorized_client', 400, () => exchange(server, shop, 'none', { client_secret: 'none' })],
  ['a body that can’t be read', 400, () => postToken(server, '{}', { 'content-type': 'application/json' })],
  ['a body that is too long', 400, () => postToken(server, { code: 'x'.repeat(20_000) })],
];

describe('contract 4.2: the token response', () => {
  it.each(TOKEN_ANSWERS)(
    '4.2 answers with the headers of the contract: %s, %i',
    async (_what, status, answer) => {
      const { status: seen, headers, body } = await answer();
      expect(seen).toBe(status);
      expect(headers.get('content-type')).toBe('application/json');
      expect(headers.get('content-length')).toBe(String(Buffer.byteLength(body)));
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('transfer-encoding')).toBeNull();
      expect(headers.get('www-authenticate')).toBeNull();
      expect(headers.get('location')).toBeNull();
      expect(headers.getSetCookie()).toEqual([]);
      const document = JSON.parse(body) as Record<string, unknown>;
      expect(['access_token', 'error'].filter((name) => name in document)).toHaveLength(1);
      expect(Object.values(document)).not.toContain(null);
    },
  );

  it('4.2 refuses parameters in the URL, says that they belong in the body, and keeps the code usable', async () => {
    const code = await obtainCode(agent, requestOf(shop), user);
    const fields = tokenRequestOf(shop, code);
    const empty = { method: 'POST', headers: { 'content-type': FORM } };
    const answers = [
      await agent.send(`/oauth/token?${queryOf(fields)}`, empty),
      await agent.post(`/oauth/token?${queryOf(fields)}`, fields),
      await agent.post(`/oauth/token?client_secret=${shop.clientSecret}`, fields),
      await agent.post('/oauth/token?code=', fields),
    ];
    for (const answer of answers) {
      expectTokenError(answer, 'invalid_request');
      expect(documentOf(answer).error_description).toContain('in the body');
    }
    expectToken(await agent.post('/oauth/token?utm_source=mail', fields));
  });
});
