import { describe, expect, it } from 'vitest';
import { Agent, type Answer } from '../support/agent.ts';
import { introspect, obtainToken, tokenRequestOf } from '../support/flow.ts';
import { expectErrorPage } from '../support/pages.ts';
import { useServer } from '../support/server.ts';
import { setClientStatus, setUserStatus } from '../support/state.ts';
import { open, signedIn, signIn } from './browsers.ts';

// An attacker asks until our answers tell who has an account, which application there is, or what somebody allowed.

const server = await useServer();

const user = await server.createUser({ paymentPassword: null });
const shop = await server.createClient();

/** What an answer tells beside the time it took: all of it but what is new in each answer. */
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

/** Signs in from a browser of its own. */
async function attempt(login: string, password: string): Promise<Answer> {
  const stranger = new Agent(server.baseUrl);
  return signIn(stranger, await open(stranger, shop), { ...user, login, password });
}

describe('whether somebody has an account', () => {
  it('is told by nothing: a known login, an unknown one and a blocked user get one answer, however it is spelled', async () => {
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
    ].map(toldBy);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]).toMatchObject({ status: 422 });
  });
});

describe('which application there is', () => {
  it('is told alike of one that never was and of one that is blocked, and a wrong secret tells no more', async () => {
    const blocked = await server.createClient();
    await setClientStatus(server, blocked, 'blocked');
    const stranger = new Agent(server.baseUrl);
    const pages = [
      await open(stranger, { ...shop, clientId: '0'.repeat(32) }),
      await open(stranger, blocked),
    ];
    for (const page of pages) expectErrorPage(page, 'unauthorized_client');
    const [unknown, known] = pages.map(toldBy);
    expect(unknown).toEqual(known);
    const clients = [
      { ...shop, clientId: '0'.repeat(32) },
      { ...shop, clientSecret: '0'.repeat(64) },
      blocked,
    ];
    for (const path of ['/oauth/token', '/oauth/revoke']) {
      const answers = clients.map((client) =>
        stranger.post(path, { ...tokenRequestOf(client, 'x'), token: 'x' }),
      );
      const told = (await Promise.all(answers)).map(toldBy);
      for (const answer of told) expect(answer).toEqual(told[0]);
    }
  });

  it('gives nobody what is registered for it: no address answers with a secret, an address or a right', async () => {
    const client = await server.createClient({
      redirectUri: 'https://internal.example/callback',
      allowedRights: ['account-info'],
    });
    const owner = await signedIn(server, shop, user);
    for (const agent of [owner, new Agent(server.baseUrl)]) {
      for (const path of [
        `/clients/${client.clientId}`,
        `/oauth/clients/${client.clientId}`,
        `/oauth/applications/${client.clientId}.json`,
        '/oauth/authorized_applications.json',
        `/oauth/register/${client.clientId}`,
        `/.well-known/oauth-authorization-server?client_id=${client.clientId}`,
        `/metrics?client_id=${client.clientId}`,
      ]) {
        const answer = await agent.get(path, { accept: 'application/json' });
        expect(answer.body).not.toMatch(/internal\.example|client_secret"|allowed_rights/);
        expect(answer.body).not.toContain(client.clientSecret);
      }
    }
  });
});

describe('what somebody allowed', () => {
  it('is shown to its user only, without a secret, whichever form of it is asked for', async () => {
    const client = await server.createClient({ name: 'Corner Shop' });
    const browser = new Agent(server.baseUrl);
    const token = await obtainToken(browser, client, user, { instance_name: 'of the user' });
    const { rows } = await server.database.pool.query<{ hash: string }>(
      `select encode(secret_hash, 'hex') as hash from client_secrets where client_id = $1`,
      [client.clientId],
    );
    const other = await signedIn(server, client, await server.createUser({ paymentPassword: null }));
    for (const accept of ['text/html', 'application/json', '*/*']) {
      const shown = await browser.get('/account', { accept });
      expect([shown.headers.get('content-type'), shown.text.includes('of the user')]).toEqual([
        'text/html; charset=utf-8',
        true,
      ]);
      for (const secret of [client.clientSecret ?? '', rows[0]?.hash ?? 'none', token, client.clientId])
        expect(shown.body).not.toContain(secret);
      expect((await other.get('/account', { accept })).text).not.toContain('of the user');
      expect((await new Agent(server.baseUrl).get('/account', { accept })).page).toBe('sign-in');
    }
    for (const path of ['/account.json', '/account/', `/account?format=json&user_id=${user.userId}`])
      expect((await other.get(path, { accept: 'application/json' })).body).not.toContain('of the user');
  });

  it('is told of a token to no application and to no stranger, not even of their own token', async () => {
    const token = await obtainToken(new Agent(server.baseUrl), shop, user);
    const evil = await server.createClient();
    const basic = (id: string, secret: string) => ({ authorization: `Basic ${btoa(`${id}:${secret}`)}` });
    const program = new Agent(server.baseUrl);
    const callers: Record<string, string>[] = [
      {},
      basic(shop.clientId, shop.clientSecret ?? ''),
      basic(evil.clientId, evil.clientSecret ?? ''),
      basic('', ''),
      { authorization: `Bearer ${token}` },
    ];
    for (const headers of callers) {
      for (const asked of [token, 'assent_at_', '']) {
        const credentials = { client_id: shop.clientId, client_secret: shop.clientSecret ?? '' };
        const answer = await program.post('/oauth/introspect', { token: asked, ...credentials }, headers);
        expect([answer.status, answer.body.includes('active')]).toEqual([401, false]);
      }
    }
    const resource = await server.createResource();
    expect(await introspect(server, resource, token)).toMatchObject({ active: true });
  });
});

describe('a login or a password that is too long', () => {
  const long = '\u0344'.repeat(2_000) + '\u0316'.repeat(2_000);

  it.each([
    ['login', { login: long, password: 'x' }],
    ['password', { login: 'somebody', password: long }],
  ])('is answered like a wrong one, and counted: %s', async (_what, typed) => {
    const agent = new Agent(server.baseUrl);
    const attempt = async () => (await agent.submit(await agent.get('/account'), 'login', typed)).status;
    const statuses = [];
    for (let n = 0; n < 5; n += 1) statuses.push(await attempt());
    expect(statuses).toEqual([422, 422, 422, 422, 422]);
    await server.database.pool.query(
      `update throttles set free_at = clock_timestamp() + interval '25 seconds' where free_at > counted_at`,
    );
    expect(await attempt()).toBe(429);
  });
});
