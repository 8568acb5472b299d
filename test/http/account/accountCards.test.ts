import * as cheerio from 'cheerio';
import { beforeEach, describe, expect, it } from 'vitest';
import { insertGrants, signedIn } from '../../support/account.ts';
import type { Agent } from '../../support/http/agent.ts';
import { type TestUser, useServer } from '../../support/server.ts';
import { setClientStatus } from '../../support/state.ts';

// What the cards of the account page say before and after they are opened, and how everything on them is called.

const server = await useServer();
const { pool } = server.database;

let user: TestUser;
let agent: Agent;
let minutes: number;

beforeEach(async () => {
  user = await server.createUser();
  agent = await signedIn(server, user);
  minutes = 0;
});

/** Connects an application with these scopes, each connection a minute older than what was connected before. */
async function connect(name: string, ...scopes: readonly string[]) {
  const client = await server.createClient({ name });
  for (const [at, scope] of scopes.entries()) {
    minutes += 1;
    await pool.query(
      `insert into grants (grant_id, user_id, client_id, instance_name, revision, scope, redirect_uri, code_hash,
                           code_expires_at, token_hash, token_issued_at, confirmed_at)
       select gen_random_uuid(), $1, $2, $3, 1, $4, 'x', sha256('x'), at, sha256('x'), at, at
         from (select now() - make_interval(mins => $5) as at) t`,
      [user.userId, client.clientId, at === 0 ? null : `no. ${at}`, scope, minutes],
    );
  }
  return client;
}

async function account(path = '/account') {
  const { body } = await agent.get(path);
  return cheerio.load(body.replaceAll(/[\u2068\u2069]/g, '').replaceAll('\u00a0', ' '));
}

/** What elements say, in order. */
const textsOf = ($: cheerio.CheerioAPI, selector: string) =>
  $(selector)
    .toArray()
    .map((element) => $(element).text());

/** The name and the line of each closed card, in order. */
async function cards(path?: string): Promise<(readonly [name: string, line: string])[]> {
  const $ = await account(path);
  return $('.card > summary')
    .toArray()
    .map((card) => [$('h2', card).text().trim(), $('.spends', card).text().trim()] as const);
}

const WEEKLY = 'payment-shop.limit(7,3000)';
const ONCE = 'payment.to-pattern("metro").limit(,500.50)';

describe('a collapsed card', () => {
  it('shows the most that the application can spend, and the rights for spending first', async () => {
    await connect('Diary', 'account-info');
    const blocked = await connect('Blocked Shop', WEEKLY);
    await connect('Shop', `account-info ${WEEKLY}`);
    await connect('Metro', ONCE);
    await setClientStatus(server, blocked, 'blocked');
    const blockedDiary = await connect('Blocked Diary', 'account-info');
    await setClientStatus(server, blockedDiary, 'blocked');
    expect(await cards()).toEqual([
      ['Shop', 'Can spend: at most RUB 3,000 in any 7 days'],
      ['Metro', 'Can spend: at most one payment of exactly RUB 500.50'],
      ['Diary', 'Can’t spend your money'],
      ['Blocked Shop', 'Can’t spend your money now'],
      ['Blocked Diary', 'Can’t spend your money'],
    ]);
  });

  it('adds up the limits of several connections', async () => {
    await connect('Same', WEEKLY, WEEKLY, 'account-info');
    await connect('Different', 'payment-p2p', WEEKLY);
    await connect('Once', ONCE, ONCE);
    await connect('Mixed', ONCE, WEEKLY);
    expect(await cards()).toEqual([
      ['Same', 'Can spend: at most RUB 6,000 in any 7 days'],
      ['Different', 'Can spend: at most RUB 24,000 in any 7 days'],
      ['Once', 'Can spend: at most RUB 1,001 in all, in one-time payments'],
      ['Mixed', 'Can spend: at most RUB 3,500.50 in any 7 days'],
    ]);
  });

  it('adds up only connections that can spend', async () => {
    await connect('One of two', 'account-info', WEEKLY);
    await connect('None of two', 'account-info', 'operation-history');
    expect(await cards()).toEqual([
      ['One of two', 'Can spend: at most RUB 3,000 in any 7 days'],
      ['None of two', 'Can’t spend your money'],
    ]);
  });

  it('shows the sum of the whole application on each page with its connections', async () => {
    const others = Array.from({ length: 9 }, () => 'account-info');
    await connect('Spender', WEEKLY, ...others, WEEKLY);
    const older = /rel="next" href="([^"]+)"/.exec((await agent.get('/account')).body)?.[1];
    for (const path of ['/account', older ?? 'no second page'])
      expect(await cards(path)).toEqual([['Spender', 'Can spend: at most RUB 6,000 in any 7 days']]);
    await pool.query(`update grants set scope = 'account-info' where instance_name is null`);
    expect(await cards()).toEqual([['Spender', 'Can spend: at most RUB 3,000 in any 7 days']]);
    await pool.query(`update grants set scope = 'account-info' where instance_name = 'no. 10'`);
    expect(await cards()).toEqual([['Spender', 'Can’t spend your money']]);
  });

  it('shows no sum when there are too many connections to read', async () => {
    const client = await connect('Spender', WEEKLY);
    await insertGrants(server, { user, client, count: 1_000 });
    expect(await cards()).toEqual([['Spender', 'Can spend your money']]);
  });

  it('shows a sum for each of several connections', async () => {
    await connect('Shop', WEEKLY, 'payment-p2p', 'account-info', ONCE);
    const sums = async () => textsOf(await account(), '.connection dt:contains("Can spend") + dd');
    expect(await sums()).toEqual([
      'At most RUB 3,000 in any 7 days',
      'At most RUB 3,000 in any 24 hours',
      'Nothing',
      'At most one payment of exactly RUB 500.50',
    ]);
    await connect('Diary', 'account-info');
    expect(await sums()).toHaveLength(4);
    await pool.query(`update clients set status = 'blocked' where name = 'Shop'`);
    expect(new Set(await sums())).toEqual(new Set(['Nothing while it is blocked', 'Nothing']));
  });
});

describe('the account page, for screen readers,', () => {
  it('gives each of several connections a heading with its name', async () => {
    await connect('Shop', WEEKLY, WEEKLY);
    await connect('Diary', 'account-info');
    const $ = await account();
    const sections = $('.connection').toArray();
    expect(
      sections.map((section) => [$(section).attr('aria-label'), $('h3', section).first().text()]),
    ).toEqual([
      ['Shop, unnamed connection', 'Unnamed connection'],
      ['Shop, no. 1', 'no. 1'],
      [undefined, ''],
    ]);
    const headings = $('.card :is(h2, h3, h4)').toArray();
    expect(headings.map(({ tagName }) => tagName).join(' ')).toBe('h2 h3 h4 h3 h4 h2');
    expect(textsOf($, '.connection dt:contains("Connection") + dd')).toEqual(['no. 1']);
  });

  it('gives each control a unique name, which begins with its visible text', async () => {
    await connect('Shop', WEEKLY, WEEKLY, WEEKLY);
    await connect('Diary', 'account-info');
    const $ = await account();
    const controls = $('main :is(summary.button, button, a)').toArray();
    const names = controls.map((control) => $(control).attr('aria-label') ?? $(control).text());
    expect(names).toHaveLength(15);
    expect(new Set(names).size).toBe(names.length);
    for (const control of controls) {
      const seen = $(control).text().trim();
      expect($(control).attr('aria-label') ?? seen).toMatch(new RegExp(`^${seen}(: |$)`));
    }
  });
});
