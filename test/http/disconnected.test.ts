import { beforeEach, describe, expect, it } from 'vitest';
import { insertGrants, signedIn } from '../support/account.ts';
import type { Agent, Answer } from '../support/agent.ts';
import { obtainToken } from '../support/flow.ts';
import { type TestClient, type TestUser, useServer } from '../support/server.ts';

// What the account page says after something was disconnected, and whom it says it to.

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

async function connect(...names: readonly (string | undefined)[]): Promise<void> {
  for (const name of names)
    await obtainToken(agent, client, user, name === undefined ? {} : { instance_name: name });
}

/** Presses the button that says Yes to what its accessible name says further. @returns the link that follows */
async function press(name: string): Promise<string> {
  const { body, forms } = await agent.get('/account');
  const found = body.matchAll(/<button type="submit" aria-label="Yes, ([^"]*)"/g);
  const place = [...found].map(([, words]) => plain(words)).indexOf(name);
  const form = forms.filter(({ action }) => action.startsWith('/account/disconnect'))[place];
  const { location } = await agent.post(form?.action ?? '', form?.fields ?? {});
  return location ?? '';
}

const plain = (text = '') => text.replaceAll(/[\u2068\u2069]/g, '').replaceAll('\u00a0', ' ');
const titleOf = ({ body }: Answer) => plain(/<title>(.*?) &middot;/.exec(body)?.[1]);
const saidOn = ({ body }: Answer) =>
  plain(/role="status">.*?<p>(.*?)<\/p>/s.exec(body)?.[1]).replaceAll(/<\/?bdi>/g, '');

async function said(link: string, by = agent): Promise<readonly [title: string, said: string]> {
  const page = await by.get(link);
  expect([page.status, page.page]).toEqual([200, 'account']);
  return [titleOf(page), saidOn(page)];
}

const NOTHING = ['Connected applications', ''];
const ALL_STOPPED = [
  'Disconnected: Corner Shop',
  'Corner Shop is disconnected and lost all its access at once.',
];

describe('after a disconnection the page', () => {
  it('names the connection that ended, in its title too, and counts the others', async () => {
    await connect('tablet', 'phone', undefined);
    expect(await said(await press('disconnect: Corner Shop, tablet'))).toEqual([
      'Disconnected: Corner Shop, tablet',
      'tablet is disconnected from Corner Shop. Corner Shop still has 2 connections.',
    ]);
    expect(await said(await press('disconnect: Corner Shop, unnamed connection'))).toEqual([
      'Disconnected: Corner Shop, unnamed connection',
      'The unnamed connection of Corner Shop is disconnected. Corner Shop still has 1 connection.',
    ]);
    expect(await said(await press('disconnect: Corner Shop, phone'))).toEqual(ALL_STOPPED);
  });

  it('says of the only one, and of all together, that all access stopped', async () => {
    await connect(undefined);
    expect(await said(await press('disconnect: Corner Shop'))).toEqual(ALL_STOPPED);
    await connect('tablet', 'phone');
    expect(await said(await press('disconnect all: Corner Shop'))).toEqual(ALL_STOPPED);
  });

  it('counts the connections left when it is opened, and calls the application by its name then', async () => {
    await connect('tablet', 'phone');
    const link = await press('disconnect: Corner Shop, tablet');
    await connect('watch');
    await pool.query(`update clients set name = 'New Corner' where client_id = $1`, [client.clientId]);
    expect(await said(link)).toEqual([
      'Disconnected: New Corner, tablet',
      'tablet is disconnected from New Corner. New Corner still has 2 connections.',
    ]);
  });

  it('claims nothing of all access where more was allowed than it reads', async () => {
    await connect('tablet');
    await insertGrants(server, { user, client, count: 1_000 });
    await pool.query("update grants set revoked_at = now() where instance_name like 'instance %'");
    const link = await press('disconnect: Corner Shop, tablet');
    expect((await said(link))[1]).toBe('tablet is disconnected from Corner Shop.');
    await connect('phone');
    expect((await said(link))[1]).toMatch(
      /tablet is disconnected from Corner Shop. Corner Shop still has 1 connection or more.$/,
    );
    const all = `/account?disconnected_all=${client.clientId}`;
    expect(await said(all)).toEqual(NOTHING);
    await press('disconnect: Corner Shop, phone');
    expect((await said(all))[1]).toBe(
      'The access of Corner Shop that you disconnected has ended. If connections of Corner Shop are still listed, disconnect it once more.',
    );
  });

  it('says nothing any more once it is connected anew, or the application is deleted', async () => {
    await connect('tablet');
    const single = await press('disconnect: Corner Shop, tablet');
    const all = `/account?disconnected_all=${client.clientId}`;
    expect(await said(all)).toEqual(ALL_STOPPED);
    await connect('tablet');
    expect([await said(single), await said(all)]).toEqual([NOTHING, NOTHING]);
    expect(await said(await press('disconnect: Corner Shop, tablet'))).toEqual(ALL_STOPPED);
    await pool.query('delete from clients where client_id = $1', [client.clientId]);
    expect([await said(single), await said(all)]).toEqual([NOTHING, NOTHING]);
  });
});

describe('a made-up link', () => {
  it('tells nothing of another user’s connections, and nothing of live ones', async () => {
    await connect('tablet', 'phone');
    const theirs = await press('disconnect: Corner Shop, tablet');
    const boris = await signedIn(server, await server.createUser());
    const never = await server.createClient({ name: 'Never Met' });
    const own = /name="grant_id" value="([^"]+)"/.exec((await agent.get('/account')).body)?.[1];
    for (const link of [
      theirs,
      `/account?disconnected_all=${client.clientId}`,
      `/account?disconnected_all=${never.clientId}`,
    ]) {
      expect(await said(link, boris)).toEqual(NOTHING);
      expect((await boris.get(link)).body).not.toMatch(/Corner Shop|Never Met|tablet/);
    }
    for (const link of [`=${own}`, `_all=${client.clientId}`, `_all=${never.clientId}`])
      expect(await said(`/account?disconnected${link}`)).toEqual(NOTHING);
  });

  it('tells nothing of what ended without being disconnected', async () => {
    await connect('tablet');
    const { rows } = await pool.query(
      `update grants set token_issued_at = now() - interval '4 years' where user_id = $1 returning grant_id as id`,
      [user.userId],
    );
    expect(await said(`/account?disconnected=${rows[0].id}`)).toEqual(NOTHING);
    expect(await said(`/account?disconnected_all=${client.clientId}`)).toEqual(NOTHING);
  });
});
