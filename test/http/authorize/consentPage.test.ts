import * as cheerio from 'cheerio';
import { beforeEach, describe, expect, it } from 'vitest';
import { signedIn } from '../../support/account.ts';
import { linkTo, obtainToken, reachConsent, requestOf } from '../../support/flow.ts';
import { Agent, type Answer } from '../../support/http/agent.ts';
import { type TestClient, type TestUser, useServer } from '../../support/server.ts';

// What the pages of a request say beside the rights and limits themselves.

const server = await useServer();
const { pool } = server.database;

let client: TestClient;
let user: TestUser;
let browser: Agent;
beforeEach(async () => {
  client = await server.createClient({ name: 'Corner Shop' });
  user = await server.createUser({ paymentPassword: null });
  browser = await signedIn(server, user);
});

const consentFor = (fields = {}) => reachConsent(browser, requestOf(client, fields), user);
const allow = (fields = {}) => obtainToken(browser, client, user, fields);
const titleOf = ({ body }: Answer) => cheerio.load(body)('title').text();
const besides = ({ text }: Answer) => /On top: (.*? other connections?)\./.exec(text)?.[1];
const changesOf = ({ body }: Answer) => {
  const $ = cheerio.load(body);
  const lines = $('main :is(li, .money > h2, .money > p):has(.badge)').toArray();
  const textOf = (html: string | null) =>
    html
      ?.replaceAll(/<[^>]+>|&nbsp;/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .replaceAll(' .', '.')
      .trim();
  return lines.map((line) => textOf($(line).html()));
};

describe('other connections of the same application', () => {
  /** Writes so many live authorizations of the user, the newest of all, without the pages. */
  const connect = (count: number, scope: string, clientId = client.clientId) =>
    pool.query(
      `insert into grants (grant_id, user_id, client_id, instance_name, revision, scope, redirect_uri, confirmed_at,
                           code_hash, code_expires_at)
       select gen_random_uuid(), $1, $2, gen_random_uuid(), 1, $4, 'x:', now(), sha256('x'), now() + interval '1 hour'
         from generate_series(1, $3::int) n`,
      [user.userId, clientId, count, scope],
    );

  it('are shown as the sum that they can spend together', async () => {
    await allow({ instance_name: 'tablet', scope: 'payment-shop payment-p2p.limit(7,500)' });
    await allow({ scope: 'payment-shop.limit(,99)' });
    const page = await consentFor({ instance_name: 'phone', scope: 'payment-p2p' });
    expect(besides(page)).toBe('at most RUB 21,599 in any 7 days through its 2 other connections');
  });

  it('are also shown when the request only reads, with what the single one can spend', async () => {
    await allow({ instance_name: 'tablet', scope: 'payment-shop' });
    expect(besides(await consentFor())).toBe(
      'at most RUB 3,000 in any 24 hours through its other connection',
    );
  });

  it('can spend one payment each if they are one-time payments', async () => {
    await allow({ instance_name: 'one', scope: 'payment-shop.limit(,99)' });
    expect(besides(await consentFor())).toBe(
      'at most one payment of exactly RUB 99 through its other connection',
    );
    await allow({ instance_name: 'two', scope: 'payment-shop.limit(,1.50)' });
    expect(besides(await consentFor())).toBe(
      'at most RUB 100.50 in all, in one-time payments through its 2 other connections',
    );
  });

  it('show a large one also behind many small, newer ones', async () => {
    await allow({ instance_name: 'large', scope: 'payment-shop.limit(1,912345)' });
    for (const name of ['1', '2', '3'])
      await allow({ instance_name: name, scope: 'payment-shop.limit(1,1)' });
    const told = (sum: string, count: number) =>
      `at most RUB ${sum} in any 24 hours through its ${count} other connections`;
    expect(besides(await consentFor())).toBe(told('912,348', 4));
    await connect(95, 'payment-p2p.limit(1,10)');
    expect(besides(await consentFor())).toBe(told('913,298', 99));
    expect(besides(await consentFor({ instance_name: 'large' }))).toBe(told('953', 98));
  });

  it('show no sum if there are too many or their scopes are too long to read', async () => {
    const unknown = 'On top: what its other connections can spend. They are too many to add up here.';
    const long = Array.from({ length: 300 }, (_, n) => `payment.to-pattern("${n}")`).join(' ');
    await connect(3, long);
    expect(besides(await consentFor())).toMatch(/^at most RUB 2,700,000 in any 24 hours through its 3 /);
    await connect(1, long);
    expect((await consentFor()).text).toContain(unknown);
    await pool.query('delete from grants');
    await connect(1, 'payment-shop');
    const other = await server.createClient();
    await connect(1_098, 'account-info', other.clientId);
    expect(besides(await consentFor())).toMatch(/^at most RUB 3,000 in any 24 hours through its other/);
    await connect(1, 'account-info', other.clientId);
    expect((await consentFor()).text).toContain(unknown);
  });

  it('count only live, spending grants of the same user and application', async () => {
    await allow({ scope: 'payment-shop' });
    await allow({ instance_name: 'reader', scope: 'account-info' });
    await allow({ instance_name: 'ended', scope: 'payment-shop' });
    await pool.query("update grants set revoked_at = now() where instance_name = 'ended'");
    await obtainToken(browser, await server.createClient(), user, { scope: 'payment-shop' });
    const other = await server.createUser({ paymentPassword: null });
    const elsewhere = new Agent(server.baseUrl);
    await obtainToken(elsewhere, client, other, { instance_name: 'x', scope: 'payment-shop' });
    const page = await consentFor({ scope: 'payment-shop' });
    expect(besides(page)).toBeUndefined();
    expect(page.text).not.toContain('On top');
  });
});

it('shows the source of money when it changes and when it is new', async () => {
  await allow({ scope: 'payment-shop money-source("card")' });
  expect(changesOf(await consentFor({ scope: 'payment-shop' }))).toEqual([
    'As before It can pay any shop',
    expect.stringMatching(/ at most in all\. Changed Paid from your wallet\. Before: your linked card\.$/),
  ]);
  expect(changesOf(await consentFor({ scope: 'payment-shop money-source("card")' }))).toEqual([]);
  await allow({ scope: 'account-info' });
  expect(changesOf(await consentFor({ scope: 'payment-shop account-info' }))).toEqual([
    'New It can pay any shop',
    expect.stringMatching(/ at most in all\. New Paid from your wallet\.$/),
  ]);
});

describe('the changes beside each right', () => {
  it('show the earlier limit, each in its own period', async () => {
    await allow({ scope: 'incoming-transfers operation-history payment-shop.limit(1,500)' });
    const scope = 'incoming-transfers account-info payment-p2p payment-shop.limit(7,3000)';
    const page = await consentFor({ scope });
    expect(changesOf(page)).toEqual([
      'New Transfer money to anyone At most RUB 3,000 in any 24 hours',
      'Changed Pay any shop At most RUB 3,000 in any 7 days Before: at most RUB 500 in any 24 hours ' +
        'In any 24 hours: RUB 3,000 instead of RUB 500 ' +
        'In any 7 days: RUB 3,000 instead of RUB 3,500',
      'New It can see your account number, balance and status',
    ]);
    expect(page.text).toMatch(
      /1 more right stays as it is Accept and reject transfers sent to you It will no longer be able to See the list/,
    );
  });

  it('keep limits unfolded, and fold only a list without changes', async () => {
    await allow({ scope: 'operation-history payment-shop' });
    const page = await consentFor({ scope: 'operation-history account-info payment-shop' });
    expect(changesOf(page)).toEqual([
      'As before It can pay any shop',
      'New It can see your account number, balance and status',
    ]);
    expect(page.text).toMatch(/As before It can pay any shop up to RUB 3,000 in any 24 hours, until/);
    const same = await consentFor({ scope: 'operation-history payment-shop' });
    expect(changesOf(same)).toEqual([]);
    expect(same.text).toContain('The new access has the same rights and limits.');
    expect(same.text).not.toContain('stays as it is');
  });
});

it('warns when the browser returns to another site than the application’s', async () => {
  client = await server.createClient({
    site: 'https://www.shop.example/',
    redirectUri: 'https://shop.example/back',
  });
  expect((await consentFor()).text).toContain('Then toshop.example Valid until');
  client = await server.createClient({
    site: 'https://www.shop.example/',
    redirectUri: 'https://other.example/',
  });
  expect((await consentFor()).text).toContain('Then toother.example not its website');
});

it('shows what a limit with a period longer than the access allows in that time', async () => {
  const { text } = await consentFor({ scope: 'payment-shop.limit(9999,5000) payment-p2p.limit(1,100)' });
  expect(text).toMatch(/It can spend up to RUB 114,[56]00 in all, until \d+ \w+ \d{4}/);
});

it('shows the expiry date of a request for one payment', async () => {
  const { text } = await consentFor({ scope: 'payment.to-pattern("337").limit(,500)' });
  expect(text).toMatch(/exactly RUB 500 in one payment, on any day until \d+ \w+ \d{4}/);
  expect(text).not.toContain('Valid until');
  expect(text.replaceAll(/registered here on \d+ \w+ \d{4}/g, '').match(/\b20[23]\d\b/g)).toHaveLength(1);
});

describe('the consent page', () => {
  it('names the application in its title', async () => {
    expect(titleOf(await consentFor())).toContain('Allow Corner Shop access?');
  });

  it('labels the button “Continue” only if a confirmation follows', async () => {
    const buttonsOf = ({ body }: Answer) => {
      const $ = cheerio.load(body);
      return $('[name=decision]')
        .toArray()
        .map((button) => $(button).text());
    };
    const payer = await server.createUser();
    const elsewhere = new Agent(server.baseUrl);
    for (const [page, allow] of [
      [await consentFor({ scope: 'payment-shop' }), 'Allow'],
      [await reachConsent(elsewhere, requestOf(client), payer), 'Allow'],
      [await reachConsent(elsewhere, requestOf(client, { scope: 'payment-shop' }), payer), 'Allow…'],
    ] as const)
      expect(buttonsOf(page)).toEqual(['Reject', allow]);
  });

  it('links to the page that revokes access, in a new tab', async () => {
    const { body, text } = await consentFor();
    const link = cheerio.load(body)('main form a').first();
    expect([link.text(), link.attr('href'), link.attr('target')]).toEqual([
      'Connected applications',
      '/account',
      '_blank',
    ]);
    expect(text).toContain(
      'You can end this any time in Connected applications. Payments already made are not undone.',
    );
  });

  it('tells users without a payment password that Allow is enough to spend money', async () => {
    const said = 'You have no payment password: pressing “Allow” is enough to let an application pay.';
    const { text, body } = await consentFor({ scope: 'payment-shop' });
    expect(text).toContain(said);
    const link = cheerio.load(body)('main a[href="/account/payment-password"][target="_blank"]');
    expect(link.text()).toBe('Set a payment password');
    expect((await consentFor()).text).not.toContain(said);
    const payer = await server.createUser();
    const guarded = await reachConsent(
      new Agent(server.baseUrl),
      requestOf(client, { scope: 'payment-p2p' }),
      payer,
    );
    expect(guarded.text).not.toContain(said);
  });

  it('shows since when a never allowed application has been registered', async () => {
    const created = pool.query("update clients set created_at = '2026-05-03T12:00Z' where client_id = $1", [
      client.clientId,
    ]);
    await created;
    const { text } = await consentFor();
    expect(text).toContain('was registered here on 3 May 2026.');
  });

  it('shows the application before the password is typed, and that signing in allows nothing', async () => {
    const known = await server.createClient({ site: 'https://www.shop.example/', reviewed: true });
    const visitor = new Agent(server.baseUrl);
    const { text } = await visitor.get(linkTo(requestOf(known)));
    expect(text).toContain('www.shop.example · owner checked by Assent');
    expect(text).toContain('Signing in allows nothing yet.');
    expect((await visitor.get('/account')).text).not.toContain('Signing in allows nothing yet.');
  });

  it('links an error page to the website of reviewed applications only', async () => {
    const site = 'https://www.shop.example/';
    const ways = [];
    for (const reviewed of [true, false]) {
      const known = await server.createClient({ name: 'Corner Shop', site, reviewed });
      const wrong = requestOf(known, { scope: 'no-right-of-ours' });
      const { body } = await browser.get(linkTo(wrong));
      const way = cheerio.load(body)('main a.button');
      ways.push([way.attr('href'), way.text()]);
    }
    expect(ways).toEqual([
      [site, 'Back to Corner Shop'],
      ['/account', 'See your connected applications'],
    ]);
  });
});
