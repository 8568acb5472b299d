import { describe, expect, it } from 'vitest';
import { decide, requestOf } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { factsOf } from '../support/pages.ts';
import { useServer } from '../support/server.ts';
import { expireCode } from '../support/state.ts';
import { flowAt, open } from './flowAt.ts';

const server = await useServer();
const { user, agent, reachPage, reject, codeFor, tokenFor, writingNothing } = await flowAt(server);
const shop = await server.createClient({ name: 'Corner Shop' });

const RIGHTS: [scope: string, texts: string[]][] = [
  [
    'payment-shop money-source("wallet","card")',
    [
      'It can pay any shop up to RUB 3,000 in any 24 hours, until',
      'Paid from your wallet or your linked card.',
    ],
  ],
  [
    'account-info payment-shop.limit(2,10) payment.to-account("1").limit(3,20)',
    [
      'It can see your account number, balance and status',
      'It can spend up to RUB 40 in any 3 days, until',
      'Pay any shop At most RUB 10 in any 2 days',
      'Transfer money to the account “1” At most RUB 20 in any 3 days',
      'Paid from your wallet.',
    ],
  ],
];

describe('contract 1.2.1: what the user sees before deciding', () => {
  it.each(RIGHTS)('1.2.1 shows the rights and limits of %s [contract-1]', async (scope, texts) => {
    const { text } = await reachPage(shop, { scope });
    for (const part of texts) expect(text).toContain(part);
  });

  it('1.2.1 shows only the requested rights and limits', async () => {
    const { text } = await reachPage(shop, { scope: 'account-info' });
    expect(text).not.toMatch(/the list of|details of|transfer|Pay |paid from|RUB/i);
  });

  it('1.2.1 shows which application asks, for which instance, the redirect host and the account', async () => {
    const redirectUri = 'https://shop.example/oauth/back';
    const client = await server.createClient({ name: 'Corner Shop', redirectUri });
    const page = await reachPage(client, { instance_name: 'Иван’s phone' });
    expect(page.text).toContain('Corner Shop asks for access to your account');
    expect(factsOf(page)).toEqual({
      Connection: 'Иван’s phone',
      'Then to': 'shop.example',
      You: `Maria Petrova (${user.login}) Not you?`,
      'Valid until': expect.stringMatching(/^\d+ \w+ \d{4}$/),
    });
  });
});

describe('contract 1.5: what the user sees about an earlier authorization', () => {
  const EARLIER = 'This replaces the access you gave';

  it('1.5 shows the earlier authorization that will end, with its rights and limits', async () => {
    const client = await server.createClient({ name: 'Corner Shop' });
    await tokenFor(client, { scope: 'operation-details payment-shop.limit(3,99)' });
    const { text } = await reachPage(client, { scope: 'account-info' });
    expect(text).toMatch(/you gave on \d+ \w+ \d{4} \(.*?\)\. The earlier one ends at once\./);
    const earlier = text.slice(text.indexOf(EARLIER));
    expect(earlier).toContain('See the details of each transaction');
    expect(earlier).toContain('Pay any shop At most RUB 99 in any 3 days');
  });

  it('1.5 shows no earlier authorization the first time, after a rejection, or for another instance', async () => {
    const client = await server.createClient();
    const page = await reachPage(client);
    expect(page.text).not.toContain(EARLIER);
    await decide(agent, page, 'reject');
    expect((await reachPage(client)).text).not.toContain(EARLIER);
    await tokenFor(client);
    expect((await reachPage(client, { instance_name: 'phone' })).text).not.toContain(EARLIER);
  });

  it('1.5 shows authorizations with an unexchanged code, but not with an expired code or token', async () => {
    const client = await server.createClient();
    await codeFor(client);
    expect((await reachPage(client)).text).toContain(EARLIER);
    await expireCode(server, client);
    expect((await reachPage(client)).text).not.toContain(EARLIER);
    await tokenFor(client);
    const age = `update grants set token_issued_at = clock_timestamp() - interval '3 years 1 day' where client_id = $1`;
    await server.database.pool.query(age, [client.clientId]);
    expect((await reachPage(client)).text).not.toContain(EARLIER);
  });
});

describe('contract 1.4: entry of logins and passwords', () => {
  it('1.4 ignores login and password in the authorization request [contract-2]', async () => {
    const browser = new Agent(server.baseUrl);
    const { login, password } = user;
    const request = requestOf(shop, { login, password, payment_password: 'x' });
    const page = await writingNothing(async () => {
      const { location } = await browser.post('/oauth/authorize', request);
      expect(location).not.toContain(password);
      return browser.get(location ?? '');
    });
    expect(page.page).toBe('sign-in');
    expect(browser.cookies.has('assent_session')).toBe(false);
  });

  it.each(['sign-in', 'consent'])('1.4 allows no site to frame the %s page', async (name) => {
    await reject(shop);
    const page = await open(name === 'consent' ? agent : new Agent(server.baseUrl), requestOf(shop));
    expect(page.page).toBe(name);
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });
});
