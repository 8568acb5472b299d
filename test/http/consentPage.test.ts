import * as cheerio from 'cheerio';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { formatScope } from '../../src/rules/formatScope.ts';
import { spends } from '../../src/rules/scope.ts';
import { rights } from '../rules/arbitraries.ts';
import { Agent, type Answer } from '../support/agent.ts';
import { obtainToken, reachConsent, requestOf, signIn } from '../support/flow.ts';
import { type TestClient, type TestUser, useServer } from '../support/server.ts';

// What the pages of a request say beside the rights and limits themselves.

const server = await useServer();

let client: TestClient;
let user: TestUser;
let browser: Agent;
beforeEach(async () => {
  client = await server.createClient({ name: 'Corner Shop' });
  user = await server.createUser({ paymentPassword: null });
  browser = new Agent(server.baseUrl);
  await signIn(browser, user.login, user.password);
});

const consentFor = (fields = {}) => reachConsent(browser, requestOf(client, fields), user);
const allow = (fields = {}) => obtainToken(browser, client, user, fields);
const titleOf = ({ body }: Answer) => cheerio.load(body)('title').text();
const besides = ({ text }: Answer) => /On top of this, (.*?)\. (?:What|Corner)/.exec(text)?.[1];
const changesOf = ({ body }: Answer) => {
  const $ = cheerio.load(body);
  const lines = $('.replaces > .changes li').toArray();
  const textOf = (html: string | null) =>
    html
      ?.replaceAll(/<[^>]+>|&nbsp;/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim();
  return lines.map((line) => textOf($(line).html()));
};

describe('other connections of the same application', () => {
  it('that may spend are named with what they can cost, the newest first', async () => {
    await allow({ instance_name: 'tablet', scope: 'payment-shop payment-p2p.limit(7,500)' });
    await allow({ scope: 'payment-shop.limit(,99)' });
    const page = await consentFor({ instance_name: 'phone', scope: 'payment-p2p' });
    expect(besides(page)).toBe(
      'Corner Shop can already spend: through a connection without a name, at most one payment of exactly RUB 99; ' +
        'through “tablet”, at most RUB 21,500 in any 7 days',
    );
  });

  it('are told to those who are asked to let it read only, too', async () => {
    await allow({ instance_name: 'tablet', scope: 'payment-shop' });
    expect(besides(await consentFor())).toBe(
      'Corner Shop can already spend: through “tablet”, at most RUB 3,000 a day',
    );
  });

  it('have names that stay within their quotation', async () => {
    await allow({ instance_name: 'a”, at most RUB 1; “b', scope: 'payment-shop' });
    expect(besides(await consentFor())).toBe(
      'Corner Shop can already spend: through “a, at most RUB 1; b”, at most RUB 3,000 a day',
    );
  });

  it('are counted where they are many', async () => {
    for (const name of ['1', '2', '3', '4', '5']) await allow({ instance_name: name, scope: 'payment-p2p' });
    expect(besides(await consentFor())).toMatch(
      /already spend: through “5”, .*; through “4”, .*; through “3”, .*; and through 2 more connections$/,
    );
    expect(besides(await consentFor({ instance_name: '5' }))).toMatch(
      /: through “4”, .*; through “3”, .*; through “2”, .*; and through 1 more connection$/,
    );
  });

  it('are none of this one, of another application or user, nor those that only read or have ended', async () => {
    await allow({ scope: 'payment-shop' });
    await allow({ instance_name: 'reader', scope: 'account-info' });
    await allow({ instance_name: 'ended', scope: 'payment-shop' });
    await server.database.pool.query("update grants set revoked_at = now() where instance_name = 'ended'");
    await obtainToken(browser, await server.createClient(), user, { scope: 'payment-shop' });
    const other = await server.createUser({ paymentPassword: null });
    const elsewhere = new Agent(server.baseUrl);
    await obtainToken(elsewhere, client, other, { instance_name: 'x', scope: 'payment-shop' });
    const page = await consentFor({ scope: 'payment-shop' });
    expect(besides(page)).toBeUndefined();
    expect(page.text).not.toContain('On top of this');
  });

  it('are found by a word that stands in exactly those scopes that spend', () => {
    fc.assert(
      fc.property(rights, (list) => {
        expect(formatScope(list).includes('payment')).toBe(spends(list));
      }),
    );
  });
});

describe('where the money comes from', () => {
  it('is a fact beside what it can spend, and stands in no list', async () => {
    const { body } = await consentFor({ scope: 'payment-shop money-source("card")' });
    const $ = cheerio.load(body);
    expect($('.spending .source').text().trim()).toBe('Paid from: your linked card');
    expect($('li').text()).not.toContain('Paid from');
  });

  it('is told when it changes, and when it is new', async () => {
    await allow({ scope: 'payment-shop money-source("card")' });
    expect(changesOf(await consentFor({ scope: 'payment-shop' }))).toEqual([
      'Changed Paid from: your wallet Before: your linked card',
    ]);
    expect(changesOf(await consentFor({ scope: 'payment-shop money-source("card")' }))).toEqual([]);
    await allow({ scope: 'account-info' });
    expect(changesOf(await consentFor({ scope: 'payment-shop account-info' }))).toEqual([
      'New Pay any shop At most RUB 3,000 a day',
      'New Paid from: your wallet',
    ]);
  });
});

describe('what changes', () => {
  it('begins with money and ends with what is dropped, and says it of the time of each limit', async () => {
    await allow({ scope: 'operation-history payment-shop.limit(1,500)' });
    const page = await consentFor({ scope: 'account-info payment-p2p payment-shop.limit(7,3000)' });
    expect(changesOf(page)).toEqual([
      'New Transfer money to anyone At most RUB 3,000 a day',
      'Changed Pay any shop Before: at most RUB 500 a day After: at most RUB 3,000 in any 7 days ' +
        'In any day: at most RUB 500 before, RUB 3,000 after ' +
        'In any 7 days: at most RUB 3,500 before, RUB 3,000 after',
      'New See your account number, balance and status',
      'No longer See the list of your transactions',
    ]);
  });
});

describe('a limit for longer than the access lives', () => {
  it('is told as what can be spent in that time', async () => {
    const { text } = await consentFor({ scope: 'payment-shop.limit(9999,5000) payment-p2p.limit(1,100)' });
    expect(text).toMatch(/At most RUB 114,[56]00 in all, and nothing after \d+ \w+ \d{4}/);
  });
});

describe('a request for one payment', () => {
  it('says no day until which it is good', async () => {
    const { text } = await consentFor({ scope: 'payment.to-pattern("337").limit(,500)' });
    expect(text).toContain('One payment of exactly RUB 500, now or later, and nothing more');
    expect(text).not.toContain('Valid until');
    expect(text.replaceAll(/registered with us on \d+ \w+ \d{4}/g, '')).not.toMatch(/\b20[23]\d\b/);
  });
});

describe('the page', () => {
  it('names the application in its title', async () => {
    expect(titleOf(await consentFor())).toContain('Allow Corner Shop access?');
    const payer = await server.createUser();
    const elsewhere = new Agent(server.baseUrl);
    await signIn(elsewhere, payer.login, payer.password);
    const query = new URLSearchParams(requestOf(client, { scope: 'payment-shop' }));
    const asked = await elsewhere.get(`/oauth/authorize?${query}`);
    expect(titleOf(asked)).toContain('Payment password for Corner Shop’s request');
    expect(titleOf(await elsewhere.get(`/reject?${query}`))).toContain('Reject Corner Shop’s request?');
  });

  it('links to the page on which it is taken back, in a new tab, and prints its address', async () => {
    const { body, text } = await consentFor();
    const link = cheerio.load(body)('.answer a').first();
    expect([link.text(), link.attr('href'), link.attr('target')]).toEqual([
      'Connected applications',
      '/account',
      '_blank',
    ]);
    expect(text).toContain(
      `at ${new URL(server.baseUrl).host}/account. That does not undo payments already made.`,
    );
  });

  it('says to those without a payment password that Allow is enough, where money is spent', async () => {
    const said =
      'You have no payment password: pressing “Allow” is enough to let this application spend your money.';
    const { text, body } = await consentFor({ scope: 'payment-shop' });
    expect(text).toContain(said);
    expect(cheerio.load(body)('.answer a[href="/account/payment-password"]').text()).toBe(
      'Set a payment password',
    );
    expect((await consentFor()).text).not.toContain(said);
    const payer = await server.createUser();
    const guarded = await reachConsent(
      new Agent(server.baseUrl),
      requestOf(client, { scope: 'payment-p2p' }),
      payer,
    );
    expect(guarded.text).not.toContain(said);
  });

  it('says since when an application is known that the user has never allowed anything', async () => {
    const created = server.database.pool.query(
      "update clients set created_at = '2026-05-03T12:00Z' where client_id = $1",
      [client.clientId],
    );
    await created;
    const { text } = await consentFor();
    const { host } = new URL(client.redirectUri);
    expect(text).toContain(`It was registered with us on 3 May 2026 and takes you back to ${host}.`);
  });

  it('shows who asks before a password is typed, and that leaving allows nothing', async () => {
    const known = await server.createClient({ site: 'https://www.shop.example/', reviewed: true });
    const visitor = new Agent(server.baseUrl);
    const { text } = await visitor.get(`/oauth/authorize?${new URLSearchParams(requestOf(known))}`);
    expect(text).toContain('www.shop.example Assent has checked who runs it');
    expect(text).toContain(
      'Don’t want this? Close this page, and the application gets nothing from this request.',
    );
    expect((await visitor.get('/account')).text).not.toContain('Don’t want this?');
  });

  it('shows the currency and the days beside the field of a limit', async () => {
    client = await server.createClient({ userLimits: true });
    const { body } = await consentFor({ scope: 'payment-shop payment-p2p.limit(7,5)' });
    const $ = cheerio.load(body);
    expect($('input[name=limit_0] + span').text()).toBe('RUB a day');
    expect($('input[name=limit_1] + span').text()).toBe('RUB in any 7 days');
  });
});
