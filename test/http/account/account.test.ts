import { beforeEach, describe, expect, it } from 'vitest';
import { fieldsFor, follow, insertGrants, press, signedIn } from '../../support/account.ts';
import { introspect, obtainToken, signIn } from '../../support/flow.ts';
import type { Agent, Answer, Form } from '../../support/http/agent.ts';
import { rowsOf } from '../../support/postgres/rows.ts';
import { type TestClient, type TestUser, useServer } from '../../support/server.ts';
import { setClientStatus } from '../../support/state.ts';

const server = await useServer();
const { pool } = server.database;

let client: TestClient;
let user: TestUser;
let agent: Agent;

beforeEach(async () => {
  client = await server.createClient({ name: 'Corner Shop' });
  user = await server.createUser();
  agent = await signedIn(server, user);
});

const connect = (to: TestClient, count: number, more: { scope?: string; expired?: boolean } = {}) =>
  insertGrants(server, { user, client: to, count, ...more });

const linkOf = (page: Answer, rel: 'prev' | 'next') =>
  new RegExp(`rel="${rel}" href="([^"]+)"`).exec(page.body)?.[1];
const namesOn = ({ text }: Answer) => text.match(/(?<=Connection)instance \d+(?= Allowed)/g) ?? [];
const formsTo = (page: Answer, action: string): Form[] => page.forms.filter((form) => form.action === action);

describe('the account page', () => {
  it('shows 6,000 connections in pages, newest first, with a link back to the first page', async () => {
    await connect(client, 6_000);
    let page = await agent.get('/account');
    expect(page.body.length).toBeLessThan(60_000);
    expect(page.text).not.toContain('Back to the newest');
    const seen: string[] = namesOn(page);
    expect(seen).toHaveLength(10);
    for (let n = 1; n < 5; n += 1) {
      page = await agent.get(linkOf(page, 'next') ?? '');
      seen.push(...namesOn(page));
    }
    expect(seen).toEqual(Array.from({ length: 50 }, (_, n) => `instance ${n + 1}`));
    expect(page.body).toContain('href="/account">Back to the newest</a>');
  });

  it('ends at the oldest connection, and starts again where a page is empty', async () => {
    await connect(client, 11);
    const last = await agent.get(linkOf(await agent.get('/account'), 'next') ?? '');
    expect([namesOn(last), linkOf(last, 'next')]).toEqual([['instance 11'], undefined]);
    const answer = await agent.post('/account/disconnect', fieldsFor(last, '/account/disconnect'));
    const emptied = await agent.get(answer.location ?? '');
    expect(emptied.location).toBe(`${server.baseUrl}/account`);
    const first = await follow(agent, emptied);
    expect(first.text).toContain(
      'Disconnected: Corner Shop, instance 11. The list shows what is still connected.',
    );
    expect(namesOn(first)).toHaveLength(10);
  });

  it('stays on its page when a connection on it is disconnected', async () => {
    await connect(client, 25);
    const second = await agent.get(linkOf(await agent.get('/account'), 'next') ?? '');
    const after = await press(agent, second, '/account/disconnect');
    expect(after.text).toContain(
      'Disconnected: Corner Shop, instance 11. The list shows what is still connected.',
    );
    expect(namesOn(after)).toEqual([...namesOn(second).slice(1), 'instance 21']);
  });

  it('reads one page, not every authorization of the user', async () => {
    await connect(client, 3_000, { expired: true });
    await pool.query(
      `update grants set confirmed_at = confirmed_at - interval '1 day' where user_id = $1 and instance_name > 'instance 2'`,
      [user.userId],
    );
    const other = await server.createClient({ name: 'Old Friend' });
    await connect(other, 2);
    let page = await agent.get('/account');
    expect(namesOn(page)).toEqual(['instance 1', 'instance 2']);
    let pages = 1;
    for (; linkOf(page, 'next') !== undefined; pages += 1) page = await agent.get(linkOf(page, 'next') ?? '');
    expect([pages, page.status, page.location]).toEqual([7, 303, `${server.baseUrl}/account`]);
  });

  it('limits the size of the page when much was allowed', async () => {
    const long = Array.from({ length: 100 }, (_, n) => `payment.to-pattern("pattern ${n}")`).join(' ');
    await connect(client, 50, { scope: long });
    const page = await agent.get('/account');
    expect(namesOn(page).length).toBeGreaterThan(1);
    expect(page.body.length).toBeLessThan(250_000);
    const next = await agent.get(linkOf(page, 'next') ?? '');
    expect(namesOn(next)[0]).toBe(`instance ${namesOn(page).length + 1}`);
  });

  it.each(['x', "' or 1=1--", '%00', '00000000-0000-4000-8000-000000000000', '-1'])(
    'ignores the invalid page %s',
    async (given) => {
      await connect(client, 1);
      const answer = await agent.get(`/account?older=${encodeURIComponent(given)}`);
      const page = answer.status === 303 ? await agent.get(answer.location ?? '') : answer;
      expect(namesOn(page)).toEqual(['instance 1']);
    },
  );

  it('says that a blocked application can do nothing now', async () => {
    await obtainToken(agent, client, user);
    expect((await agent.get('/account')).text).not.toContain('Blocked');
    await setClientStatus(server, client, 'blocked');
    const page = await agent.get('/account');
    expect(page.text).toContain('We have blocked this application: it can’t act on your account now.');
    expect((await press(agent, page, '/account/disconnect')).text).toContain('Disconnected: Corner Shop');
  });
});

describe('disconnecting all authorizations of an application', () => {
  it('disconnects thousands at once, audits each, and keeps those of others', async () => {
    const other = await server.createClient({ name: 'Other Shop' });
    await connect(client, 6_000);
    const token = await obtainToken(agent, other, user);
    const resource = await server.createResource();
    const page = await agent.get('/account');
    expect(page.text).toContain('Disconnect Corner Shop completely (999 connections or more)?');
    expect(page.text).not.toContain('Disconnect Other Shop completely');
    const after = await press(agent, page, '/account/disconnect-all');
    expect(after.text).toContain('Disconnected: Corner Shop. The list shows what is still connected.');
    expect(formsTo(after, '/account/disconnect')).toHaveLength(1);
    expect(await introspect(server, resource, token)).toMatchObject({ active: true });
    const { rows } = await pool.query(
      `select count(*)::int, count(distinct instance_name)::int as names from audit_events
        where kind = 'revoked_by_user' and client_id = $1 and address is not null and reference is not null`,
      [client.clientId],
    );
    expect(rows).toEqual([{ count: 6_000, names: 6_000 }]);
  });

  it('counts live connections, on all pages', async () => {
    await connect(client, 37);
    await connect(await server.createClient({ name: 'Other Shop' }), 2);
    const text = (await agent.get('/account')).text;
    expect(text).toContain('Disconnect Corner Shop completely (37 connections)?');
    expect(text).toContain('Disconnect Other Shop completely (2 connections)?');
  });
});

describe('Disconnect after the session has ended', () => {
  it.each(['/account/disconnect', '/account/disconnect-all'])(
    'says so, and continues after signing in: %s',
    async (action) => {
      await connect(client, 2);
      const page = await agent.get('/account');
      await pool.query('delete from sessions where user_id = $1', [user.userId]);
      const before = await rowsOf(server.database);
      const asked = await press(agent, page, action);
      expect(asked.page).toBe('sign-in');
      expect(asked.text).toContain('Nothing has been changed yet: you were no longer signed in.');
      expect(await rowsOf(server.database)).toBe(before);
      const { login, password } = user;
      const back = await agent.submit(asked, 'login', { login, password });
      const again = await agent.get(back.location ?? '');
      expect([again.page, namesOn(again)]).toEqual(['account', ['instance 1', 'instance 2']]);
      expect((await press(agent, again, action)).text).toContain('Disconnected: Corner Shop');
    },
  );

  it.each(['/account/disconnect', '/account/disconnect-all'])(
    'says so after a new sign-in: %s',
    async (action) => {
      await connect(client, 2);
      const page = await agent.get('/account');
      await pool.query('delete from sessions where user_id = $1', [user.userId]);
      await signIn(agent, user.login, user.password);
      const answer = await press(agent, page, action);
      expect(answer.text).toContain('Nothing has been changed yet: the page was out of date.');
      expect(answer.body).toContain('<title>Not disconnected &middot; ');
      expect(namesOn(answer)).toHaveLength(2);
    },
  );
});
