import { describe, expect, it } from 'vitest';
import { Agent, type Answer } from '../support/agent.ts';
import { decide, obtainCode, obtainToken, reachConsent, requestOf } from '../support/flow.ts';
import { factsOf } from '../support/pages.ts';
import { type TestClient, useServer } from '../support/server.ts';
import { contentsOf, expireCode } from '../support/state.ts';
import type { Fields } from '../support/tokenRequests.ts';

const server = await useServer();
const user = await server.createUser({ name: 'Maria Petrova', paymentPassword: null });
const agent = new Agent(server.baseUrl);

function reachPage(client: TestClient, fields: Fields = {}): Promise<Answer> {
  return reachConsent(agent, requestOf(client, fields), user);
}

async function consentText(client: TestClient, fields: Fields = {}): Promise<string> {
  return (await reachPage(client, fields)).text;
}

const RIGHTS: [scope: string, texts: string[]][] = [
  ['payment-shop', ['Pay any shop At most RUB 3,000 a day', 'Paid from: your wallet']],
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
