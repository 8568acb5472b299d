import { expect, it } from 'vitest';
import { follow, signedIn } from '../support/account.ts';
import { obtainToken, tokenRequestOf } from '../support/flow.ts';
import { Agent, type Answer } from '../support/http/agent.ts';
import { newSecret } from '../support/ledger.ts';
import { expectErrorPage } from '../support/pages.ts';
import { type TestClient, useServer } from '../support/server.ts';
import { setClientStatus, setUserStatus } from '../support/state.ts';
import { open, signIn } from './browsers.ts';

// An attacker asks until our answers tell of an account, an application, or an authorization of another user.

const server = await useServer();

const user = await server.createUser({ paymentPassword: null });
const shop = await server.createClient();

/** All that an answer tells, besides its time, but for the parts that are new in each answer. */
function toldBy({ status, headers, text, forms }: Answer): unknown {
  const fresh = ['date', 'x-request-id', 'set-cookie', 'content-length'];
  const said = [...headers].filter(([name]) => !fresh.includes(name));
  return {
    status,
    said,
    cookies: headers.getSetCookie().map((line) => line.split('=')[0]),
    text: text.replace(/Reference ?[0-9a-f]{10}/, ''),
    inputs: forms.map((form) => form.inputs),
  };
}

/** Signs in from a browser of its own. @returns the location of the answer, then all that it and the page behind it tell */
async function attempt(login: string, password: string) {
  const stranger = new Agent(server.baseUrl);
  const answer = await signIn(stranger, await open(stranger, shop), { ...user, login, password });
  return [answer.location, toldBy(answer), toldBy(await follow(stranger, answer))];
}

it('an account is not revealed: existing, unknown and blocked logins get the same answer [enumeration-1]', async () => {
  const blocked = await server.createUser();
  await setUserStatus(server, blocked.login, 'blocked');
  const answers = [
    await attempt(user.login, 'wrong'),
    await attempt(user.login.toUpperCase(), ''),
    await attempt(` ${user.login} `, user.password.toUpperCase()),
    await attempt('nobody', 'wrong'),
    await attempt('nobody@nowhere.example', user.password),
    await attempt('', user.password),
    await attempt('x'.repeat(2000), 'wrong'),
    await attempt(user.userId, user.password),
    await attempt(blocked.login, blocked.password),
    await attempt(blocked.login, 'wrong'),
    await attempt('ＮＯＢＯＤＹ\u200b', 'x'.repeat(2000)),
  ];
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  expect(answers[0]).toMatchObject([expect.anything(), { status: 303 }, { status: 200 }]);
});

it('an application is not revealed: unknown, blocked or with a wrong secret, it gets the same answer', async () => {
  const blocked = await server.createClient();
  await setClientStatus(server, blocked, 'blocked');
  const stranger = new Agent(server.baseUrl);
  const unknown = { ...shop, clientId: '0'.repeat(32) };
  const pages = [await open(stranger, unknown), await open(stranger, blocked)];
  for (const page of pages) {
    expectErrorPage(page, 'unauthorized_client');
    expect(toldBy(page)).toEqual(pages.map(toldBy)[0]);
  }
  for (const path of ['/oauth/token', '/oauth/revoke']) {
    const ask = (client: TestClient) => stranger.post(path, { ...tokenRequestOf(client, 'x'), token: 'x' });
    const told = toldBy(await ask(unknown));
    for (const client of [{ ...shop, clientSecret: newSecret() }, blocked])
      expect(toldBy(await ask(client))).toEqual(told);
  }
});

it('a registration is not revealed: no response contains a client’s secret, redirect URI or rights [enumeration-2]', async () => {
  const allowedRights = ['account-info'];
  const client = await server.createClient({ redirectUri: 'https://internal.example/', allowedRights });
  const id = client.clientId;
  const ofOthers = [`/clients/${id}`, `/oauth/applications/${id}.json`, `/oauth/register/${id}`];
  const ours = ['/.well-known/oauth-authorization-server', '/metrics'].map((at) => `${at}?client_id=${id}`);
  for (const agent of [await signedIn(server, user), new Agent(server.baseUrl)]) {
    for (const path of [...ofOthers, ...ours]) {
      const answer = await agent.get(path, { accept: 'application/json' });
      expect(answer.body).not.toMatch(/internal\.example|client_secret"|allowed_rights/);
      expect(answer.body).not.toContain(client.clientSecret);
    }
  }
});

it('an authorization is shown only to its user, without secrets, whatever the Accept header is [enumeration-3]', async () => {
  const client = await server.createClient({ name: 'Corner Shop' });
  const browser = new Agent(server.baseUrl);
  const token = await obtainToken(browser, client, user, { instance_name: 'of the user' });
  const other = await signedIn(server, await server.createUser());
  for (const accept of ['text/html', 'application/json', '*/*']) {
    const shown = await browser.get('/oauth/account', { accept });
    expect(shown.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(shown.text).toContain('of the user');
    for (const secret of [client.clientSecret, token, client.clientId])
      expect(shown.body).not.toContain(secret);
    expect((await other.get('/oauth/account', { accept })).text).not.toContain('of the user');
    expect((await new Agent(server.baseUrl).get('/oauth/account', { accept })).page).toBe('sign-in');
  }
  for (const path of [
    '/oauth/account.json',
    '/oauth/account/',
    `/oauth/account?format=json&user_id=${user.userId}`,
  ])
    expect((await other.get(path, { accept: 'application/json' })).body).not.toContain('of the user');
});
