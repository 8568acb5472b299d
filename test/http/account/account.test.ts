import * as cheerio from 'cheerio';
import { beforeEach, describe, expect, it } from 'vitest';
import { actorsAt, follow, insertGrants, press } from '../../support/account.ts';
import { introspect, obtainToken, pageAfter, signIn } from '../../support/flow.ts';
import type { Answer } from '../../support/http/agent.ts';
import { rowsOf } from '../../support/postgres/rows.ts';
import { type TestClient, useServer } from '../../support/server.ts';
import { setClientStatus } from '../../support/state.ts';

const server = await useServer();
const { pool } = server.database;

let { client, user, agent } = await actorsAt(server, { name: 'Corner Shop' });

beforeEach(async () => {
  ({ client, user, agent } = await actorsAt(server, { name: 'Corner Shop' }));
  await signIn(agent, user.login, user.password);
});
const connect = (count: number, more: { scope?: string; expired?: boolean } = {}) =>
  insertGrants(server, { user, client, count, ...more });
const nextOf = ({ body }: Answer) => /rel="next" href="([^"]+)"/.exec(body)?.[1];
const older = async (page: Answer) => agent.get(nextOf(page) ?? 'no older page');
const namesOn = ({ body }: Answer) => {
  const $ = cheerio.load(body);
  return $('.connection h3')
    .toArray()
    .map((name) => $(name).text());
};
/** So long that a page shows few connections with it. */
const LONG = Array.from({ length: 100 }, (_, n) => `payment.to-pattern("pattern ${n}")`).join(' ');
/** A text without its marks of direction and no-break spaces. */
const plain = (text = '') => text.replaceAll(/[\u2068\u2069]/g, '').replaceAll('\u00a0', ' ');

describe('the account page', () => {
  it('shows 1,200 connections in pages, newest first, with a link back to the first page', async () => {
    await connect(1_200);
    let page = await agent.get('/oauth/account');
    expect(page.body.length).toBeLessThan(60_000);
    expect(page.text).not.toContain('All applications');
    const seen: string[] = namesOn(page);
    expect(seen).toHaveLength(10);
    for (let n = 1; n < 5; n += 1) {
      page = await older(page);
      seen.push(...namesOn(page));
    }
    expect(seen).toEqual(Array.from({ length: 50 }, (_, n) => `instance ${n + 1}`));
    expect(page.body).toContain('href="/oauth/account">All applications</a>');
  });

  it('shows the same page of the list after one of its connections is disconnected', async () => {
    await connect(25);
    const second = await older(await agent.get('/oauth/account'));
    const after = await press(agent, second, '/oauth/account/disconnect');
    expect(after.text).toContain('Disconnected: Corner Shop, instance 11.');
    expect(namesOn(after)).toEqual([...namesOn(second).slice(1), 'instance 21']);
  });

  it('shows connections that are older than 1,000 others, which have ended', async () => {
    await connect(1_000, { expired: true });
    const other = await server.createClient({ name: 'Old Friend' });
    await insertGrants(server, { user, client: other, count: 2 });
    await pool.query(
      `update grants set confirmed_at = confirmed_at - interval '1 day' where client_id = $1`,
      [other.clientId],
    );
    const page = await agent.get('/oauth/account');
    expect([namesOn(page), nextOf(page)]).toEqual([['instance 1', 'instance 2'], undefined]);
  });

  it('shows fewer connections on a page if their scopes are long [account-1]', async () => {
    await connect(50, { scope: LONG });
    const page = await agent.get('/oauth/account');
    expect(namesOn(page).length).toBeGreaterThan(1);
    expect(page.body.length).toBeLessThan(250_000);
    const next = await older(page);
    expect(namesOn(next)[0]).toBe(`instance ${namesOn(page).length + 1}`);
  });

  it.each(['x', "' or 1=1--", '%00', '00000000-0000-4000-8000-000000000000', '-1'])(
    'ignores the invalid cursor %s',
    async (given) => {
      await connect(1);
      const answer = await agent.get(`/oauth/account?older=${encodeURIComponent(given)}`);
      expect(namesOn(await pageAfter(agent, answer))).toEqual(['instance 1']);
    },
  );
});

it('disconnecting an application ends all its authorizations, audits each, and keeps those of other applications', async () => {
  const other = await server.createClient({ name: 'Other Shop' });
  await connect(1_200);
  const token = await obtainToken(agent, other, user);
  const resource = await server.createResource();
  expect((await agent.get('/oauth/account')).text).toContain('Corner Shop 1,200 connections');
  const page = await agent.get(`/oauth/account?application=${client.clientId}`);
  expect(page.text).toContain('Disconnect Corner Shop completely (1,200 connections)?');
  expect(page.text).not.toContain('Disconnect Other Shop completely');
  const after = await follow(agent, await press(agent, page, '/oauth/account/disconnect-all'));
  expect(after.text).toContain('Disconnected: Corner Shop.');
  expect(after.forms.filter(({ action }) => action === '/oauth/account/disconnect')).toHaveLength(1);
  expect(await introspect(server, resource, token)).toMatchObject({ active: true });
  const { rows } = await pool.query(
    `select count(*)::int, count(distinct instance_name)::int as names from audit_events
      where kind = 'revoked_by_user' and client_id = $1 and address is not null and reference is not null`,
    [client.clientId],
  );
  expect(rows).toEqual([{ count: 1_200, names: 1_200 }]);
});

it.each([
  ['/oauth/account', '/oauth/account/disconnect', 'Disconnected: Corner Shop'],
  ['/oauth/account', '/oauth/account/disconnect-all', 'Disconnected: Corner Shop'],
  ['/oauth/account/stop', '/oauth/account/stop', 'Everything is stopped'],
])('a form sent after the session ended changes nothing: page %s, form %s', async (path, action, done) => {
  await connect(2);
  const page = await agent.get(path);
  await pool.query('delete from sessions where user_id = $1', [user.userId]);
  const before = await rowsOf(server.database);
  const asked = await press(agent, page, action);
  expect(asked.page).toBe('sign-in');
  expect(asked.text).toContain('Nothing has been changed yet: you were no longer signed in.');
  expect(await rowsOf(server.database)).toBe(before);
  const { login, password } = user;
  const account = await follow(agent, await agent.submit(asked, 'login', { login, password }));
  expect(namesOn(account)).toEqual(['instance 1', 'instance 2']);
  const stale = await press(agent, page, action);
  expect(stale.text).toContain('Nothing has been changed yet: the page was out of date.');
  expect(stale.body.includes('<title>Not disconnected &middot; ')).toBe(path === '/oauth/account');
  expect(namesOn(await agent.get('/oauth/account'))).toHaveLength(2);
  expect((await press(agent, await agent.get(path), action)).text).toContain(done);
});

const allow = async (...names: readonly string[]) => {
  for (const instance_name of names) await obtainToken(agent, client, user, { instance_name });
};

/** Presses the button with the accessible name "Yes, …". @returns the link that follows */
async function pressYes(name: string): Promise<string> {
  const { body, forms } = await agent.get('/oauth/account');
  const found = body.matchAll(/<button type="submit" aria-label="Yes, ([^"]*)"/g);
  const place = [...found].map(([, words]) => plain(words)).indexOf(name);
  const form = forms.filter(({ action }) => action.startsWith('/oauth/account/disconnect'))[place];
  return (await agent.post(form?.action ?? '', form?.fields ?? {})).location ?? '';
}

async function expectDisconnected(link: string, what: string): Promise<void> {
  const $ = cheerio.load(plain((await agent.get(link)).body));
  expect($('title').text().split(' · ')[0]).toBe(`Disconnected: ${what}`);
  expect($('[role=status] p').text()).toBe(`Disconnected: ${what}. The list shows what is still connected.`);
}

it('the account page names the connection that ended, or the application whose connections have all ended', async () => {
  await allow('tablet', 'phone', '');
  for (const name of ['tablet', 'unnamed connection', 'phone'])
    await expectDisconnected(await pressYes(`disconnect: Corner Shop, ${name}`), `Corner Shop, ${name}`);
  await allow('');
  await expectDisconnected(await pressYes('disconnect: Corner Shop'), 'Corner Shop');
  await allow('tablet', 'phone');
  await expectDisconnected(await pressYes('disconnect all: Corner Shop'), 'Corner Shop');
});

/** Connects an application with these scopes, one after another; the first connection has no name. */
async function connectTo(name: string, ...scopes: readonly string[]): Promise<TestClient> {
  const client = await server.createClient({ name });
  for (const [at, scope] of scopes.entries())
    await obtainToken(agent, client, user, { scope, instance_name: at === 0 ? '' : `no. ${at}` });
  return client;
}

const account = async (path = '/oauth/account') => cheerio.load(plain((await agent.get(path)).body));

async function cards(path?: string): Promise<(readonly [name: string, line: string])[]> {
  const $ = await account(path);
  return $('.card > summary')
    .toArray()
    .map((card) => [$('h2', card).text().trim(), $('.spends', card).text().trim()] as const);
}

const WEEKLY = 'payment-shop.limit(7,3000)';
const ONCE = 'payment.to-pattern("metro").limit(,500.50)';

describe('a collapsed card', () => {
  it('shows the most that the application can spend; applications that can spend come first', async () => {
    await connectTo('Diary', 'account-info');
    const blocked = await connectTo('Blocked Shop', WEEKLY);
    await connectTo('Shop', `account-info ${WEEKLY}`);
    await connectTo('Metro', ONCE);
    await setClientStatus(server, blocked, 'blocked');
    const blockedDiary = await connectTo('Blocked Diary', 'account-info');
    await setClientStatus(server, blockedDiary, 'blocked');
    await connectTo('One of two', 'account-info', WEEKLY);
    await connectTo('None of two', 'account-info', 'operation-history');
    expect(await cards()).toEqual([
      ['One of two', 'Can spend: at most RUB 3,000 in any 7 days'],
      ['Metro', 'Can spend: at most one payment of exactly RUB 500.50'],
      ['Shop', 'Can spend: at most RUB 3,000 in any 7 days'],
      ['None of two', 'Can’t spend your money'],
      ['Blocked Diary', 'Can’t spend your money'],
      ['Blocked Shop', 'Can’t spend your money now'],
      ['Diary', 'Can’t spend your money'],
    ]);
  });

  it('shows the sum of all connections of the application, on each page of the list', async () => {
    const others = Array.from({ length: 9 }, () => 'account-info');
    await connectTo('Spender', WEEKLY, ...others, WEEKLY);
    for (const path of ['/oauth/account', nextOf(await agent.get('/oauth/account'))])
      expect(await cards(path)).toEqual([['Spender', 'Can spend: at most RUB 6,000 in any 7 days']]);
    await pool.query(`update grants set scope = 'account-info' where instance_name is null`);
    expect(await cards()).toEqual([['Spender', 'Can spend: at most RUB 3,000 in any 7 days']]);
    await pool.query(`update grants set scope = 'account-info' where instance_name = 'no. 10'`);
    expect(await cards()).toEqual([['Spender', 'Can’t spend your money']]);
  });

  it('shows no sum when there is too much to read', async () => {
    await connect(20, { scope: LONG });
    expect(await cards()).toEqual([['Corner Shop', 'Can spend your money']]);
  });
});

describe('with many applications the account page', () => {
  const line = ($: cheerio.CheerioAPI) => $('main > p').first().text();
  const rows = ($: cheerio.CheerioAPI) =>
    $('.row h2')
      .toArray()
      .map((row) => $(row).text());
  const named = async (search: string) => account(`/oauth/account?${new URLSearchParams({ search })}`);

  /** Each connected later than the one before; those that can spend are the first, so that they are the oldest. */
  async function connectMany(count: number, spending: number): Promise<void> {
    for (let n = 1; n <= count; n += 1) {
      const one = await server.createClient({ name: `Shop ${n}` });
      await insertGrants(server, { user, client: one, scope: n <= spending ? WEEKLY : 'account-info' });
    }
  }

  it('has one row for each, those that can spend first over all parts, and says how many there are', async () => {
    await connectMany(24, 3);
    const first = await account();
    expect(line(first)).toBe('24 applications, 3 can spend your money');
    expect(rows(first).slice(0, 5)).toEqual(['Shop 3', 'Shop 2', 'Shop 1', 'Shop 24', 'Shop 23']);
    expect(first('.spends').first().text().trim()).toBe('Can spend: at most RUB 3,000 in any 7 days');
    expect(first('main').text()).not.toContain('Allowed on');
    const second = await account(first('[rel=next]').attr('href'));
    expect([...rows(first), ...rows(second)]).toHaveLength(24);
    expect(rows(second)).toEqual(['Shop 7', 'Shop 6', 'Shop 5', 'Shop 4']);
    expect(second('[rel=next]')).toHaveLength(0);
    for (const [asked, answer] of [
      ['older=24', 303],
      ['older=-4', 303],
      ['older=1e9', 303],
      ['older=x', 200],
      ['search=%FF&search=x', 200],
      ['application=unknown', 303],
    ] as const)
      expect([asked, (await agent.get(`/oauth/account?${asked}`)).status]).toEqual([asked, answer]);
  });

  it('searches all of them by a part of the name, and says so if none has it', async () => {
    await connectMany(20, 1);
    const found = await named('sHOP 1');
    expect(rows(found)).toEqual([1, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10].map((n) => `Shop ${n}`));
    expect(line(found)).toBe('20 applications, 1 can spend your money');
    expect(found('#search').attr('value')).toBe('sHOP 1');
    const none = await named('<b>x');
    expect(rows(none)).toEqual([]);
    expect(none('[role=status]').text()).toBe('No connected application has this in its name.');
    expect(none('nav.pages a').attr('href')).toBe('/oauth/account');
    await pool.query('delete from grants where user_id = $1 and scope = $2', [user.userId, WEEKLY]);
    expect((await account())('#search')).toHaveLength(0);
  });

  it('opens an application at an address of its own, where its connections are disconnected one by one', async () => {
    await connectMany(11, 0);
    await connect(12);
    const list = await agent.get('/oauth/account');
    const [, href = ''] = /<a href="([^"]+)"><bdi>Corner Shop/.exec(list.body) ?? [];
    let page = await agent.get(href);
    expect(page.text).toContain('Corner Shop 12 connections');
    expect(page.text).not.toContain('Shop 11');
    expect(namesOn(page)).toHaveLength(10);
    page = await press(agent, page, '/oauth/account/disconnect');
    expect(page.text).toContain('Disconnected: Corner Shop, instance 1.');
    expect([namesOn(page)[0], nextOf(page)]).toEqual(['instance 2', expect.stringContaining('&amp;older=')]);
    page = await agent.get((nextOf(page) ?? '').replace('&amp;', '&'));
    expect(namesOn(page)).toEqual(['instance 12']);
    const emptied = await press(agent, page, '/oauth/account/disconnect');
    expect(emptied.location).toBe(`${server.baseUrl}/oauth/account`);
    expect((await follow(agent, emptied)).text).toContain('Disconnected: Corner Shop, instance 12.');
    const last = await agent.get(href);
    expect((await press(agent, last, '/oauth/account/disconnect-all')).location).toBe(emptied.location);
  });
});

it('the account page, for screen readers, gives each control a unique name, which begins with its visible text', async () => {
  await connectTo('Shop', WEEKLY, WEEKLY, WEEKLY);
  await connectTo('Diary', 'account-info');
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
