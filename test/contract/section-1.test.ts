import { describe, expect, it } from 'vitest';
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
import { factsOf } from '../support/pages.ts';
import { type TestClient, useServer } from '../support/server.ts';
import { contentsOf, expireCode } from '../support/state.ts';
import { exchange, expectToken, type Fields } from '../support/tokenRequests.ts';

const server = await useServer();
/** Someone without a payment password, so that every consent page is one step away. */

const user = await server.createUser({ name: 'Maria Petrova', paymentPassword: null });
const agent = new Agent(server.baseUrl);
const resource = await server.createResource();

function reachPage(client: TestClient, fields: Fields = {}): Promise<Answer> {
  return reachConsent(agent, requestOf(client, fields), user);
}

async function consentText(client: TestClient, fields: Fields = {}): Promise<string> {
  return (await reachPage(client, fields)).text;
}

describe('contract 1.1 and 1.2: the flow', () => {
  it('1.1 gives an application the right to act on the account of the user who confirmed', async () => {
    const client = await server.createClient();
    const token = await obtainToken(agent, client, user);
    expect(await introspect(server, resource, token)).toMatchObject({
      active: true,
      client_id: client.clientId,
      username: user.login,
      sub: user.userId,
    });
  });

  it('1.2.1 takes a browser that nobody is signed in with to the sign-in page of the service', async () => {
    const client = await server.createClient({ name: 'Corner Shop' });
    const browser = new Agent(server.baseUrl);
    const answer = await browser.post('/oauth/authorize', requestOf(client));
    const page = await browser.get(answer.location ?? '');
    expect([page.status, page.page]).toEqual([200, 'sign-in']);
    expect(page.text).toContain('Corner Shop is asking for access to your account');
    expect(formWith(page, 'login').inputs).toEqual(expect.arrayContaining(['login', 'password']));
  });

  it('1.2.1 leads from sign-in over the payment password to the decision', async () => {
    const client = await server.createClient();
    const payer = await server.createUser();
    const browser = new Agent(server.baseUrl);
    const request = requestOf(client, { scope: 'payment-p2p' });
    const signIn = await browser.get((await browser.post('/oauth/authorize', request)).location ?? '');
    const { login, password } = payer;
    const signedIn = await browser.submit(signIn, 'login', { login, password });
    expect(signedIn.status).toBe(303);
    const payment = await browser.get(signedIn.location ?? '');
    expect(payment.page).toBe('payment-password');
    const confirmed = await browser.submit(payment, 'payment_password', {
      payment_password: payer.paymentPassword ?? '',
    });
    expect(confirmed.status).toBe(303);
    expect((await browser.get(confirmed.location ?? '')).page).toBe('consent');
  });

  it('1.2.1 lets the user confirm or reject the request', async () => {
    const page = await reachConsent(agent, requestOf(await server.createClient()), user);
    const { action, inputs } = formWith(page, 'decision');
    expect(action).toBe('/consent');
    expect(inputs).toEqual(['decision', 'decision']);
    const buttons = page.body.match(/<button[^>]*name="decision"[^>]*>[^<]*</g);
    expect(buttons).toHaveLength(2);
    expect(buttons).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/value="allow">Allow</),
        expect.stringMatching(/value="reject">Reject</),
      ]),
    );
  });

  it('1.2.2 sends the browser back with a code that the application exchanges for an access token', async () => {
    const client = await server.createClient();
    const answer = await decide(agent, await reachConsent(agent, requestOf(client), user), 'allow');
    expect(answer.location?.startsWith(`${client.redirectUri}?code=`)).toBe(true);
    expectToken(await exchange(server, client, codeOf(answer)));
  });

  it('1.2.2 sends the browser back with an error when the user rejects', async () => {
    const client = await server.createClient();
    const answer = await decide(agent, await reachConsent(agent, requestOf(client), user), 'reject');
    expect(answer.location).toBe(`${client.redirectUri}?error=access_denied`);
  });
});

const RIGHTS: [scope: string, texts: string[]][] = [
  ['account-info', ['See your account number, balance and status']],
  ['operation-history', ['See the list of your transactions']],
  ['operation-details', ['See the details of each transaction']],
  ['incoming-transfers', ['Accept and reject transfers sent to you']],
  ['payment-shop', ['Pay any shop At most RUB 3,000 a day', 'Paid from: your wallet']],
  ['payment-p2p', ['Transfer money to anyone At most RUB 3,000 a day', 'Paid from: your wallet']],
  ['payment-shop.limit(1,3000)', ['Pay any shop At most RUB 3,000 a day']],
  ['payment-shop.limit(7,1500.50)', ['Pay any shop At most RUB 1,500.50 in any 7 days']],
  [
    'payment-p2p.limit(365,123456789012.34)',
    ['Transfer money to anyone At most RUB 123,456,789,012.34 in any 365 days'],
  ],
  ['payment.to-pattern("mobile").limit(,300)', ['Pay the shop “mobile” One payment of exactly RUB 300']],
  ['payment.to-account("4100123")', ['Transfer money to the account “4100123” At most RUB 3,000 a day']],
  ['payment.to-account("79991234567","phone")', ['Transfer money to the phone number “+79991234567”']],
  ['payment.to-account("a@example.org","email")', ['Transfer money to the email address “a@example.org”']],
  ['payment-shop money-source("card")', ['Paid from: your linked card']],
  ['payment-shop money-source("wallet","card")', ['Paid from: your wallet or your linked card']],
  [
    'account-info payment-shop.limit(2,10) payment.to-account("1").limit(3,20)',
    [
      'See your account number, balance and status',
      'Pay any shop At most RUB 10 in any 2 days',
      'Transfer money to the account “1” At most RUB 20 in any 3 days',
    ],
  ],
];

describe('contract 1.2.1: what the user sees before deciding', () => {
  it.each(RIGHTS)('1.2.1 shows the rights and limits of %s', async (scope, texts) => {
    const text = await consentText(await server.createClient(), { scope });
    for (const part of texts) expect(text).toContain(part);
  });

  it('1.2.1 shows no right and no limit that was not requested', async () => {
    const text = await consentText(await server.createClient(), { scope: 'account-info' });
    expect(text).not.toMatch(/operation|transfer|Pay |money from|RUB/i);
  });

  it('1.2.1 shows which application asks, where the browser returns to and whose account it is', async () => {
    const redirectUri = 'https://shop.example/oauth/back';
    const page = await reachPage(await server.createClient({ name: 'Corner Shop', redirectUri }));
    expect(page.text).toContain('Corner Shop is asking for access to your account');
    expect(factsOf(page)).toMatchObject({
      'You return to': 'shop.example',
      'Your account': `Maria Petrova (${user.login})`,
    });
  });

  it('1.2.1 shows the instance name, and only when there is one', async () => {
    const client = await server.createClient();
    const named = await reachPage(client, { instance_name: 'Иван’s phone' });
    expect(factsOf(named)).toHaveProperty('Connection name', 'Иван’s phone');
    expect(factsOf(await reachPage(client))).not.toHaveProperty('Connection name');
  });

  it('1.2.1 shows names as they are, never as markup', async () => {
    const name = '<b>Shop</b> & "Co" <script>';
    const scope = 'payment.to-pattern("<i>x</i>&amp;")';
    const instanceName = '<u>\'me"</u>';
    const page = await reachPage(await server.createClient({ name }), { scope, instance_name: instanceName });
    expect(page.text).toContain(`${name} is asking for access`);
    expect(page.text).toContain('Pay the shop “<i>x</i>&amp;”');
    expect(factsOf(page)).toHaveProperty('Connection name', instanceName);
    expect(page.body).not.toMatch(/<script|<i>|<u>|<b>/);
  });

  it('1.2.1 shows until when the authorization holds: 3 years', async () => {
    const dayInThreeYears = async () => {
      const { rows } = await server.database.pool.query<{ day: string }>(
        `select to_char((clock_timestamp() at time zone 'UTC') + interval '3 years', 'FMDD FMMonth YYYY') as day`,
      );
      return rows[0]?.day;
    };
    const before = await dayInThreeYears();
    const page = await reachPage(await server.createClient());
    expect([before, await dayInThreeYears()]).toContain(factsOf(page)['Valid until']);
  });

  it('1.2.1 shows the same on the payment password page, without the decision', async () => {
    const client = await server.createClient({ name: 'Corner Shop' });
    const payer = await server.createUser({ name: 'Anna Li' });
    const browser = new Agent(server.baseUrl);
    await reachConsent(browser, requestOf(client), payer);
    const fields = { scope: 'account-info payment-shop.limit(7,1500)', instance_name: 'phone' };
    const answer = await browser.post('/oauth/authorize', requestOf(client, fields));
    const page = await browser.get(answer.location ?? '');
    expect(page.page).toBe('payment-password');
    for (const part of [
      'Corner Shop is asking for access to your account',
      'See your account number, balance and status',
      'Pay any shop At most RUB 1,500 in any 7 days',
      'Paid from: your wallet',
    ]) {
      expect(page.text).toContain(part);
    }
    expect(factsOf(page)).toEqual({
      'Connection name': 'phone',
      'Your account': `Anna Li (${payer.login})`,
      'Valid until': expect.stringMatching(/^\d+ \w+ \d{4}$/),
      'You return to': '127.0.0.1:9',
    });
    expect(page.forms.flatMap(({ inputs }) => inputs)).not.toContain('decision');
    expect(page.body).not.toContain('decision_token');
  });
});

describe('contract 1.5: what the user is told about an earlier authorization', () => {
  const EARLIER = 'it replaces the access that you gave';

  it('1.5 names the earlier authorization, its rights and its limits, that confirming disconnects', async () => {
    const client = await server.createClient({ name: 'Corner Shop' });
    await obtainToken(agent, client, user, { scope: 'operation-details payment-shop.limit(3,99)' });
    const text = await consentText(client, { scope: 'account-info' });
    expect(text).toContain(EARLIER);
    expect(text).toMatch(/you gave Corner Shop on \d+ \w+ \d{4}\. The earlier access ends at once/);
    const earlier = text.slice(text.indexOf(EARLIER));
    expect(earlier).toContain('See the details of each transaction');
    expect(earlier).toContain('Pay any shop At most RUB 99 in any 3 days');
  });

  it('1.5 names it while its code is not exchanged yet', async () => {
    const client = await server.createClient();
    await obtainCode(agent, requestOf(client), user);
    expect(await consentText(client)).toContain(EARLIER);
  });

  it('1.5 names none the first time, after a refusal, and for another instance', async () => {
    const client = await server.createClient();
    const page = await reachConsent(agent, requestOf(client), user);
    expect(page.text).not.toContain(EARLIER);
    await decide(agent, page, 'reject');
    expect(await consentText(client)).not.toContain(EARLIER);
    await obtainToken(agent, client, user);
    expect(await consentText(client, { instance_name: 'phone' })).not.toContain(EARLIER);
  });

  it('1.5 names none when its code expired or its token did', async () => {
    const client = await server.createClient();
    await obtainCode(agent, requestOf(client), user);
    await expireCode(server, client);
    expect(await consentText(client)).not.toContain(EARLIER);
    await obtainToken(agent, client, user);
    expect(await consentText(client)).toContain(EARLIER);
    await server.database.pool.query(
      `update grants set token_issued_at = clock_timestamp() - interval '3 years 1 day' where client_id = $1`,
      [client.clientId],
    );
    expect(await consentText(client)).not.toContain(EARLIER);
  });
});

describe('contract 1.3 and 1.5: what is granted', () => {
  it.each([
    'account-info',
    'operation-history account-info',
    'money-source("card", "wallet") payment-p2p.limit(, 300) account-info',
    'payment.to-account("a\\"b\\"\\\\c","email").limit(30,1000.5)',
  ])('1.3 gives the token exactly the granted scope, as requested: %s', async (scope) => {
    const token = await obtainToken(agent, await server.createClient(), user, { scope });
    expect(await introspect(server, resource, token)).toMatchObject({ active: true, scope });
  });

  it('1.3 gives a new token nothing of what an earlier one was allowed', async () => {
    const client = await server.createClient();
    await obtainToken(agent, client, user, { scope: 'payment-p2p account-info' });
    const token = await obtainToken(agent, client, user, { scope: 'operation-history' });
    expect(await introspect(server, resource, token)).toMatchObject({ scope: 'operation-history' });
  });

  it('1.5 keeps one authorization per user and application, and one more per instance name', async () => {
    const client = await server.createClient();
    for (const instance_name of ['', '', 'phone', 'phone', 'tablet'])
      await obtainToken(agent, client, user, { instance_name });
    const { rows } = await server.database.pool.query(
      'select instance_name from grants where client_id = $1 order by 1 nulls first',
      [client.clientId],
    );
    expect(rows.map((row) => row.instance_name)).toEqual([null, 'phone', 'tablet']);
  });
});

describe('contract 1.4: the pages are the service’s own', () => {
  it('1.4 signs nobody in by login and password in the authorization request', async () => {
    const browser = new Agent(server.baseUrl);
    const { login, password } = user;
    const before = await contentsOf(server);
    const request = requestOf(await server.createClient(), { login, password, payment_password: 'x' });
    const answer = await browser.post('/oauth/authorize', request);
    expect(answer.location).not.toContain(password);
    expect((await browser.get(answer.location ?? '')).page).toBe('sign-in');
    expect(browser.cookies.has('assent_session')).toBe(false);
    expect(await contentsOf(server)).toEqual(before);
  });

  it.each([
    ['origin', 'https://shop.example'],
    ['origin', 'null'],
    ['sec-fetch-site', 'cross-site'],
    ['sec-fetch-site', 'same-site'],
  ])('1.4 takes no login and password from a form elsewhere (%s: %s)', async (header, value) => {
    const browser = new Agent(server.baseUrl);
    const request = requestOf(await server.createClient());
    const page = await browser.get((await browser.post('/oauth/authorize', request)).location ?? '');
    const { action, fields } = formWith(page, 'login');
    const { login, password } = user;
    const before = await contentsOf(server);
    const answer = await browser.post(action, { ...fields, login, password }, { [header]: value });
    expect(answer.status).toBe(303);
    expect(browser.cookies.has('assent_session')).toBe(false);
    expect(await contentsOf(server)).toEqual(before);
    expect((await browser.get(answer.location ?? '')).page).toBe('sign-in');
  });

  it.each(['sign-in', 'consent'])(
    '1.4 lets nobody frame the %s page or load anything into it',
    async (name) => {
      const request = requestOf(await server.createClient());
      const browser = name === 'sign-in' ? new Agent(server.baseUrl) : agent;
      if (name === 'consent') await reachConsent(browser, request, user);
      const page = await browser.get((await browser.post('/oauth/authorize', request)).location ?? '');
      expect(page.page).toBe(name);
      expect(page.headers.get('x-frame-options')).toBe('DENY');
      const policy = page.headers.get('content-security-policy');
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("default-src 'none'");
      expect(page.headers.get('cache-control')).toBe('no-store');
      expect(page.body).not.toMatch(/<script(?! type="module" src="\/form-)|<iframe|src="http|href="http/i);
      for (const form of page.forms) expect(form.action).toMatch(/^\/[a-z-]+$/);
    },
  );
});
