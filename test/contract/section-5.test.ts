import { describe, expect, it } from 'vitest';
import { copyOf } from '../support/account.ts';
import { Agent, type Answer, formWith } from '../support/agent.ts';
import {
  codeOf,
  decide,
  introspect,
  obtainCode,
  obtainToken,
  reachConsent,
  requestOf,
} from '../support/flow.ts';
import { expectErrorPage } from '../support/pages.ts';
import { type TestClient, type TestUser, useServer } from '../support/server.ts';
import { contentsOf, isLive, setClientStatus } from '../support/state.ts';
import { exchange, expectToken, expectTokenError, type Fields } from '../support/tokenRequests.ts';

const server = await useServer();

const user = await server.createUser({ paymentPassword: null });
const payer = await server.createUser();
const resource = await server.createResource();
const shop = await server.createClient({ name: 'Corner Shop' });

/** The page that a browser gets for a request. */
async function open(browser: Agent, client: TestClient, fields: Fields = {}): Promise<Answer> {
  const answer = await browser.post('/oauth/authorize', requestOf(client, fields));
  return browser.get(answer.location ?? '');
}

/** A browser in which `who` is signed in. */
async function signedIn(who: TestUser): Promise<Agent> {
  const browser = new Agent(server.baseUrl);
  const { login, password } = who;
  await browser.submit(await open(browser, shop), 'login', { login, password });
  return browser;
}

function confirm(browser: Agent, page: Answer, payment_password: string): Promise<Answer> {
  return browser.submit(page, 'payment_password', { payment_password });
}

const PAYING = { scope: 'account-info payment-shop.limit(7,1500)' };

describe('contract 5.1: signing in on the service’s own page', () => {
  it('5.1 has a field for the login and one for the password that shows no letters', async () => {
    const page = await open(new Agent(server.baseUrl), shop);
    const { action, inputs, fields } = formWith(page, 'login');
    expect(action).toBe('/sign-in');
    expect(inputs).toEqual(['login', 'password']);
    expect(Object.keys(fields)).toEqual(['request', 'form_token']);
    expect(page.body).toMatch(/<input[^>]*name="password"[^>]*type="password"/);
    expect(page.text).toContain('Corner Shop');
  });

  it('5.1 goes on to the request with a session that scripts and other sites can’t use', async () => {
    const browser = new Agent(server.baseUrl);
    const { login, password } = user;
    const answer = await browser.submit(await open(browser, shop), 'login', { login, password });
    expect(answer.status).toBe(303);
    expect(answer.location).toContain(`${server.baseUrl}/oauth/authorize?client_id=${shop.clientId}&`);
    const cookies = answer.headers.getSetCookie().filter((line) => line.startsWith('assent_session='));
    expect(cookies).toHaveLength(1);
    expect(cookies[0]).toMatch(/; Path=\/(;|$)/);
    expect(cookies[0]).toMatch(/; HttpOnly(;|$)/);
    expect(cookies[0]).toMatch(/; SameSite=Lax(;|$)/);
    expect(cookies[0]).not.toMatch(/Domain=/i);
    expect((await browser.get(answer.location ?? '')).page).toBe('consent');
  });

  it('5.1 shows the form again, 422, when the password is wrong, and keeps the login only', async () => {
    const browser = new Agent(server.baseUrl);
    const before = await contentsOf(server);
    const attempt = { login: user.login, password: 'quite wrong' };
    const answer = await browser.submit(await open(browser, shop), 'login', attempt);
    expect([answer.status, answer.page, answer.location]).toEqual([422, 'sign-in', null]);
    expect(answer.text).toContain(
      'The login or the password is wrong. If you are sure of both, ask our support.',
    );
    expect(answer.body).toContain(`value="${user.login}"`);
    expect(answer.body).not.toContain('quite wrong');
    expect(browser.cookies.has('assent_session')).toBe(false);
    expect(await contentsOf(server)).toEqual(before);
    const { login, password } = user;
    const right = await browser.submit(answer, 'login', { login, password });
    expect((await browser.get(right.location ?? '')).page).toBe('consent');
  });

  it('5.1 takes the payment password for no password and the password for no payment password', async () => {
    const browser = new Agent(server.baseUrl);
    const page = await open(browser, shop, PAYING);
    const { login, password, paymentPassword } = payer;
    const wrong = await browser.submit(page, 'login', { login, password: paymentPassword ?? '' });
    expect(wrong.status).toBe(422);
    const right = await browser.submit(page, 'login', { login, password });
    const payment = await browser.get(right.location ?? '');
    expect((await confirm(browser, payment, password)).status).toBe(422);
  });
});

describe('contract 5.1: sessions', () => {
  it.each([
    ['was not used for 30 minutes', 'seen_at', '30 minutes 1 second', 'sign-in'],
    ['was used within 30 minutes', 'seen_at', '29 minutes', 'consent'],
    ['is 12 hours old', 'created_at', '12 hours 1 second', 'sign-in'],
    ['is younger than 12 hours', 'created_at', '11 hours 59 minutes', 'consent'],
  ])('5.1 a session that %s', async (_what, column, age, page) => {
    const browser = await signedIn(user);
    await server.database.pool.query(
      `update sessions set ${column} = clock_timestamp() - $1::interval
        where created_at = (select max(created_at) from sessions)`,
      [age],
    );
    expect((await open(browser, shop)).page).toBe(page);
  });

  it('5.1 gives a new session at each sign-in and ends the one that the browser had', async () => {
    const browser = new Agent(server.baseUrl);
    const page = await open(browser, shop);
    const { login, password } = user;
    await browser.submit(page, 'login', { login, password });
    const earlier = copyOf(browser);
    await browser.submit(page, 'login', { login, password });
    expect([...browser.cookies.values()]).not.toEqual([...earlier.cookies.values()]);
    expect((await open(earlier, shop)).page).toBe('sign-in');
    expect((await open(browser, shop)).page).toBe('consent');
  });
});

describe('contract 5.1: the payment password', () => {
  it.each(['payment-p2p.limit(1,1)', 'account-info payment.to-account("1").limit(,5)'])(
    '5.1 is asked when a right lets money be spent: %s',
    async (scope) => {
      const page = await open(await signedIn(payer), shop, { scope });
      expect([page.status, page.page]).toEqual([200, 'payment-password']);
      const { action, inputs } = formWith(page, 'payment_password');
      expect([action, inputs]).toEqual(['/payment-password', ['payment_password']]);
      expect(page.body).toMatch(/<input[^>]*name="payment_password"[^>]*type="password"/);
    },
  );

  it('5.1 is not asked when no right lets money be spent', async () => {
    const scope = 'account-info operation-history operation-details incoming-transfers money-source("card")';
    expect((await open(await signedIn(payer), shop, { scope })).page).toBe('consent');
  });

  it('5.1 shows its form again, 422, when it is wrong, and lets nobody past', async () => {
    const browser = await signedIn(payer);
    const page = await open(browser, shop, PAYING);
    for (const wrong of ['', 'wrong', `${payer.paymentPassword} `]) {
      const before = await contentsOf(server);
      const answer = await confirm(browser, page, wrong);
      expect([answer.status, answer.page]).toEqual([422, 'payment-password']);
      expect(answer.text).toContain('The payment password is wrong.');
      expect(answer.text).toContain('At most RUB 1,500 in any 7 days');
      expect(await contentsOf(server)).toEqual(before);
    }
    expect((await open(browser, shop, PAYING)).page).toBe('payment-password');
    expect((await confirm(browser, page, payer.paymentPassword ?? '')).status).toBe(303);
    expect((await open(browser, shop, PAYING)).page).toBe('consent');
  });

  it('5.1 confirms one request: any other one asks it again', async () => {
    const browser = await signedIn(payer);
    const client = await server.createClient();
    await confirm(browser, await open(browser, shop, PAYING), payer.paymentPassword ?? '');
    expect((await open(browser, shop, PAYING)).page).toBe('consent');
    for (const other of [
      { scope: 'account-info payment-shop.limit(7,1501)' },
      { ...PAYING, instance_name: 'phone' },
      { ...PAYING, state: 'x' },
    ]) {
      expect((await open(browser, shop, other)).page).toBe('payment-password');
    }
    expect((await open(browser, client, PAYING)).page).toBe('payment-password');
  });
});

describe('contract 5.2 and 5.3: the application', () => {
  it('5.3 must send its own client_secret, character by character', async () => {
    const other = await server.createClient();
    const code = await obtainCode(await signedIn(user), requestOf(shop), user);
    const secret = shop.clientSecret ?? '';
    for (const wrong of [other.clientSecret, secret.toUpperCase(), `${secret} `, secret.slice(0, -1)]) {
      const client_secret = wrong ?? '';
      expectTokenError(await exchange(server, shop, code, { client_secret }), 'unauthorized_client');
    }
    expectToken(await exchange(server, shop, code));
  });

  it('5.3 is refused with a secret that was retired, and never becomes one without verification', async () => {
    const client = await server.createClient();
    const code = await obtainCode(await signedIn(user), requestOf(client), user);
    await server.database.pool.query(
      'update client_secrets set retired_at = clock_timestamp() where client_id = $1',
      [client.clientId],
    );
    expectTokenError(await exchange(server, client, code), 'unauthorized_client');
    const without = { client_secret: undefined };
    expectTokenError(await exchange(server, client, code, without), 'unauthorized_client');
  });

  it.each([undefined, 'anything'])(
    '5.3 omits client_secret when it is registered without verification, and is not judged by it: %j',
    async (client_secret) => {
      const client = await server.createClient({ verified: false });
      const code = await obtainCode(await signedIn(user), requestOf(client), user);
      expectToken(await exchange(server, client, code, { client_secret }));
    },
  );

  it('5.2 is refused at every step from the moment it is blocked', async () => {
    const client = await server.createClient();
    const stranger = new Agent(server.baseUrl);
    const browser = await signedIn(payer);
    const signIn = await open(stranger, client);
    const payment = await open(browser, client, PAYING);
    const consent = await open(browser, client);
    const codes = await obtainCode(browser, requestOf(client, { instance_name: 'phone' }), payer);
    const token = await obtainToken(browser, client, payer, { instance_name: 'tablet' });
    const request = await browser.post('/oauth/authorize', requestOf(client));
    await setClientStatus(server, client, 'blocked');
    const before = await contentsOf(server);
    const { login, password } = payer;
    for (const page of [
      await browser.post('/oauth/authorize', requestOf(client)),
      await browser.get(request.location ?? ''),
      await stranger.submit(signIn, 'login', { login, password }),
      await confirm(browser, payment, payer.paymentPassword ?? ''),
      await decide(browser, consent, 'allow'),
      await decide(browser, consent, 'reject'),
    ]) {
      expectErrorPage(page, 'unauthorized_client');
    }
    expectTokenError(await exchange(server, client, codes), 'unauthorized_client');
    expect(await isLive(server, resource, token)).toBe(false);
    expect(await contentsOf(server)).toEqual(before);
  });
});

describe('contract 5.4: redirect_uri', () => {
  it('5.4 must match the registered one at the authorization, and that one at the exchange', async () => {
    const browser = await signedIn(user);
    const redirect_uri = `${shop.redirectUri}?item=1`;
    const other = requestOf(shop, { redirect_uri: 'http://127.0.0.1:9/elsewhere' });
    expectErrorPage(await browser.post('/oauth/authorize', other), 'invalid_request');
    const code = codeOf(await decide(browser, await open(browser, shop, { redirect_uri }), 'allow'));
    expectTokenError(await exchange(server, shop, code), 'invalid_request');
    expectToken(await exchange(server, shop, code, { redirect_uri }));
  });
});

describe('contract 5.5: the access token is a secret', () => {
  it('5.5 keeps no code, token, password, secret or session readable in the database or the log', async () => {
    const browser = new Agent(server.baseUrl);
    const client = await server.createClient();
    const request = requestOf(client, { ...PAYING, state: 'state-of-the-application' });
    const code = codeOf(await decide(browser, await reachConsent(browser, request, payer), 'allow'));
    expectTokenError(
      await exchange(server, client, code, { client_secret: 'a-wrong-secret' }),
      'unauthorized_client',
    );
    const token = expectToken(await exchange(server, client, code));
    await isLive(server, resource, token);
    const { rows } = await server.database.pool.query<{ everything: string }>(
      `select concat(
         (select json_agg(t) from clients t), (select json_agg(t) from client_secrets t),
         (select json_agg(t) from users t), (select json_agg(t) from sessions t), (select json_agg(t) from grants t),
         (select json_agg(t) from audit_events t), (select json_agg(t) from resources t),
         (select json_agg(t) from resource_secrets t)) as everything`,
    );
    const kept = `${rows[0]?.everything}${server.logLines.join('')}`;
    expect(kept).toContain(client.clientId);
    const secrets = [
      code,
      token,
      payer.password,
      payer.paymentPassword,
      client.clientSecret,
      'a-wrong-secret',
    ];
    for (const secret of [...secrets, ...browser.cookies.values(), resource.slice('Basic '.length)]) {
      expect(secret).toBeTruthy();
      expect(kept).not.toContain(secret);
    }
  });

  it('5.5 takes a token as a whole only: a changed, cut or lengthened one gives no right', async () => {
    const token = await obtainToken(await signedIn(user), shop, user);
    const changed = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`;
    for (const other of [changed, token.slice(0, -1), `${token}A`, token.toUpperCase(), ` ${token}`])
      expect(await introspect(server, resource, other)).toEqual({ active: false });
    expect(await isLive(server, resource, token)).toBe(true);
  });
});
