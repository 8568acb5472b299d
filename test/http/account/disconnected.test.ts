import { beforeEach, describe, expect, it } from 'vitest';
import { fieldsFor, signedIn } from '../../support/account.ts';
import { obtainToken, signIn } from '../../support/flow.ts';
import type { Agent, Answer } from '../../support/http/agent.ts';
import { type TestClient, type TestUser, useServer } from '../../support/server.ts';

// What the account page says after something was disconnected, and whom it says it to.

const server = await useServer();

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
const saysOf = (what: string) => [
  `Disconnected: ${what}`,
  `Disconnected: ${what}. The list shows what is still connected.`,
];

describe('after a disconnection the page', () => {
  it('names the connection that ended, also in its title', async () => {
    await connect('tablet', 'phone', undefined);
    for (const name of ['tablet', 'unnamed connection'])
      expect(await said(await press(`disconnect: Corner Shop, ${name}`))).toEqual(
        saysOf(`Corner Shop, ${name}`),
      );
    expect(await said(await press('disconnect: Corner Shop, phone'))).toEqual(saysOf('Corner Shop, phone'));
  });

  it('names the application whose connections have all ended', async () => {
    await connect(undefined);
    expect(await said(await press('disconnect: Corner Shop'))).toEqual(saysOf('Corner Shop'));
    await connect('tablet', 'phone');
    expect(await said(await press('disconnect all: Corner Shop'))).toEqual(saysOf('Corner Shop'));
  });

  it('says so for a minute, and not after another decision', async () => {
    await connect('tablet', 'phone');
    const link = await press('disconnect: Corner Shop, tablet');
    expect(await said(link)).toEqual(await said(link));
    await connect('tablet');
    expect(await said(link)).toEqual(NOTHING);
    const { forms } = await agent.get('/account');
    const form = forms.find(({ action }) => action === '/account/disconnect');
    const answer = await agent.post('/account/disconnect', form?.fields ?? {});
    const [cookie = ''] = answer.headers.getSetCookie().filter((one) => one.startsWith('assent_outcome='));
    expect(Number(/Max-Age=(\d+)/.exec(cookie)?.[1])).toBe(70);
  });

  it('says nothing to the next user of the browser, nor in another browser at its address', async () => {
    await connect('tablet');
    const link = await press('disconnect: Corner Shop, tablet');
    const boris = await server.createUser();
    expect(await said(link, await signedIn(server, boris))).toEqual(NOTHING);
    await agent.post('/sign-out', fieldsFor(await agent.get(link), '/sign-out'));
    await signIn(agent, boris.login, boris.password);
    expect(await said(link)).toEqual(NOTHING);
  });
});
