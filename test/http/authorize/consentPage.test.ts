import * as cheerio from 'cheerio';
import { beforeEach, describe, expect, it } from 'vitest';
import { actorsAt } from '../../support/account.ts';
import { linkTo, obtainToken, reachConsent, requestOf } from '../../support/flow.ts';
import { Agent, type Answer } from '../../support/http/agent.ts';
import { useServer } from '../../support/server.ts';

const server = await useServer();
const { pool } = server.database;

let { client, user, agent } = await actorsAt(server, {}, { paymentPassword: null });

beforeEach(async () => {
  ({ client, user, agent } = await actorsAt(server, {}, { paymentPassword: null }));
});

const consentFor = (fields = {}) => reachConsent(agent, requestOf(client, fields), user);
const PAYING = { scope: 'payment-shop' };
const allow = (fields = {}) => obtainToken(agent, client, user, fields);
const wordsOf = ({ body }: Answer, selector: string) => cheerio.load(body)(selector).first().text();
const besides = ({ text }: Answer) => /On top: (.*? other connections?)\./.exec(text)?.[1];

describe('the sum of the application’s other connections', () => {
  /** Writes so many live authorizations of the user, the newest of all, without the pages. */
  const connect = (count: number, scope: string, { clientId } = client) =>
    pool.query(
      `insert into grants (grant_id, user_id, client_id, instance_name, revision, scope, redirect_uri, confirmed_at,
                           code_hash, code_expires_at)
       select gen_random_uuid(), $1, $2, gen_random_uuid(), 1, $4, 'x:', now(), sha256('x'), now() + interval '1 hour'
         from generate_series(1, $3::int) n`,
      [user.userId, clientId, count, scope],
    );

  it('includes a large connection even if many small ones are newer [consentPage-1]', async () => {
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

  it('is not shown if the connections are too many, or their scopes too long, to read', async () => {
    const unknown = 'On top: what its other connections can spend. They are too many to add up here.';
    const long = Array.from({ length: 300 }, (_, n) => `payment.to-pattern("${n}")`).join(' ');
    await connect(3, long);
    expect(besides(await consentFor())).toMatch(/^at most RUB 2,700,000 in any 24 hours through its 3 /);
    await connect(1, long);
    expect((await consentFor()).text).toContain(unknown);
    await pool.query('delete from grants');
    await connect(1, 'payment-shop');
    const other = await server.createClient();
    await connect(1_098, 'account-info', other);
    expect(besides(await consentFor())).toMatch(/^at most RUB 3,000 in any 24 hours through its other/);
    await connect(1, 'account-info', other);
    expect((await consentFor()).text).toContain(unknown);
  });

  it('counts only live authorizations for payments of the same user and application', async () => {
    await allow(PAYING);
    await allow({ instance_name: 'reader', scope: 'account-info' });
    await allow({ instance_name: 'ended', ...PAYING });
    await pool.query("update grants set revoked_at = now() where instance_name = 'ended'");
    await obtainToken(agent, await server.createClient(), user, PAYING);
    const other = await server.createUser({ paymentPassword: null });
    const elsewhere = new Agent(server.baseUrl);
    await obtainToken(elsewhere, client, other, { instance_name: 'x', ...PAYING });
    expect((await consentFor(PAYING)).text).not.toContain('On top');
  });
});

it('the consent page compares each new limit with the earlier one, in both periods [consentPage-2]', async () => {
  await allow({ scope: 'incoming-transfers operation-history payment-shop.limit(1,500)' });
  const scope = 'incoming-transfers account-info payment-p2p payment-shop.limit(7,3000)';
  const page = await consentFor({ scope });
  const changes = [
    'New Transfer money to anyone At most RUB 3,000 in any 24 hours',
    'Changed Pay any shop At most RUB 3,000 in any 7 days ?Before: at most RUB 500 in any 24 hours ?' +
      'In any 24 hours: RUB 3,000 instead of RUB 500 ?In any 7 days: RUB 3,000 instead of RUB 3,500',
    'New It can see your account number, balance and status',
  ];
  expect(page.text).toMatch(new RegExp(changes.join('.+')));
  expect(page.text).toMatch(
    /1 more right stays as it is Accept and reject transfers sent to you It will no longer be able to See the list/,
  );
});

describe('the page of an authorization request', () => {
  it('tells only users without a payment password that Allow is enough to spend money', async () => {
    const said = 'You have no payment password: pressing “Allow” is enough to let an application pay.';
    const payer = await server.createUser();
    const withPassword = new Agent(server.baseUrl);
    for (const [page, isSaid, button] of [
      [await consentFor(PAYING), true, 'Allow'],
      [await consentFor(), false, 'Allow'],
      [await reachConsent(withPassword, requestOf(client), payer), false, 'Allow'],
      [await reachConsent(withPassword, requestOf(client, PAYING), payer), false, 'Allow…'],
    ] as const) {
      expect([page.text.includes(said), wordsOf(page, '[value=allow]')]).toEqual([isSaid, button]);
      const links = ['/oauth/account', ...(isSaid ? ['/oauth/account/payment-password'] : [])];
      for (const href of links) expect(wordsOf(page, `main a[href="${href}"][target="_blank"]`)).not.toBe('');
    }
  });

  it('links, on an error, to an application’s website only if the application was reviewed', async () => {
    const site = 'https://www.shop.example/';
    for (const [reviewed, href] of [
      [true, site],
      [false, '/oauth/account'],
    ] as const) {
      const known = await server.createClient({ site, reviewed });
      const { body } = await agent.get(linkTo(requestOf(known, { scope: 'no-right-of-ours' })));
      expect(cheerio.load(body)('main a.button').attr('href')).toBe(href);
    }
  });
});
