import { describe, expect, it } from 'vitest';
import { copyOf } from '../support/account.ts';
import { Agent } from '../support/agent.ts';
import { codeOf, decide, introspect, obtainToken } from '../support/flow.ts';
import { onDatabase, runAssent } from '../support/process.ts';
import { useServer } from '../support/server.ts';
import { contentsOf, isLive } from '../support/state.ts';
import { exchange, expectToken } from '../support/tokenRequests.ts';
import { formTo, open, sessionOf, signedIn, signIn } from './browsers.ts';

// An attacker wants the victim's session, wants to give the victim one of their own, or wants its forms sent.

const server = await useServer();

const victim = await server.createUser({ paymentPassword: null });
const attacker = await server.createUser({ paymentPassword: null });
const resource = await server.createResource();
const shop = await server.createClient();

function assent(args: string[], stdin = ''): Promise<{ code: number | null }> {
  return runAssent(args, onDatabase(server.database.url), stdin);
}

describe('a cookie that the attacker put into the browser', () => {
  it('never becomes the session of the victim: neither a made-up one nor the attacker’s own', async () => {
    const mallory = await signedIn(server, shop, attacker);
    for (const planted of ['made-up', 'A'.repeat(43), sessionOf(mallory) ?? '']) {
      const fixed = new Agent(server.baseUrl);
      const page = await open(fixed, shop);
      fixed.cookies.set('assent_session', planted);
      await signIn(fixed, page, victim);
      expect(sessionOf(fixed)).toMatch(/^[\w-]{43}$/);
      expect(sessionOf(fixed)).not.toBe(planted);
      const thief = new Agent(server.baseUrl);
      thief.cookies.set('assent_session', planted);
      expect((await thief.get('/account')).page).toBe('sign-in');
      expect((await fixed.get('/account')).text).toContain(victim.login);
    }
  });
});

/** Signs out by the form of the account page. */
async function leave(browser: Agent): Promise<void> {
  const { action, fields } = formTo(await browser.get('/account'), '/sign-out');
  await browser.post(action, fields);
}

describe('the end of a session', () => {
  it('is for good at sign-out: neither its cookie nor its forms work, also when the cookie was not cleared', async () => {
    const browser = await signedIn(server, shop, victim);
    const page = await open(browser, shop);
    const kept = copyOf(browser);
    await leave(browser);
    expect((await kept.get('/account')).page).toBe('sign-in');
    expect((await decide(kept, page, 'allow')).status).toBe(303);
    await signIn(kept, await open(kept, shop), attacker);
    const account = await kept.get('/account');
    expect(account.text).toContain(attacker.login);
    expect(account.text).not.toContain(victim.login);
  });

  it('is for good when the operator blocks the user: it does not come back when the user is unblocked', async () => {
    const user = await server.createUser({ paymentPassword: null });
    const browser = await signedIn(server, shop, user);
    const page = await open(browser, shop);
    expect(await assent(['user', 'block', user.login])).toMatchObject({ code: 0 });
    expect((await browser.get('/account')).page).toBe('sign-in');
    expect(await assent(['user', 'unblock', user.login])).toMatchObject({ code: 0 });
    expect((await browser.get('/account')).page).toBe('sign-in');
    expect((await decide(browser, page, 'allow')).status).toBe(303);
  });

  it('is for good when the password is changed, in every browser and for every form that was open', async () => {
    const user = await server.createUser({ paymentPassword: null });
    const browsers = [await signedIn(server, shop, user), await signedIn(server, shop, user)];
    const pages = await Promise.all(browsers.map((browser) => open(browser, shop)));
    expect(
      await assent(['user', 'set-password', user.login, '--password-stdin'], 'another one\n'),
    ).toMatchObject({
      code: 0,
    });
    for (const [index, browser] of browsers.entries()) {
      const page = pages[index];
      expect((await browser.get('/account')).page).toBe('sign-in');
      if (page) expect((await decide(browser, page, 'allow')).status).toBe(303);
    }
  });
});

describe('two people at one browser', () => {
  it.each([
    ['the page for somebody else', true],
    ['a loss of the cookies', false],
  ])(
    'share nothing after %s: the second has another session, no form of the first, and tokens of their own',
    async (_what, signsOut) => {
      const browser = new Agent(server.baseUrl);
      await signIn(browser, await open(browser, shop), victim);
      const [first, page] = [sessionOf(browser), await open(browser, shop)];
      if (signsOut) await browser.post('/sign-out', formTo(page, '/sign-out').fields);
      else browser.cookies.clear();
      await signIn(browser, await open(browser, shop), attacker);
      expect(sessionOf(browser)).not.toBe(first);
      expect((await decide(browser, page, 'allow')).status).toBe(303);
      const code = codeOf(await decide(browser, await open(browser, shop), 'allow'));
      const token = expectToken(await exchange(server, shop, code));
      expect(await introspect(server, resource, token)).toMatchObject({ sub: attacker.userId });
    },
  );
});

describe('a form of ours', () => {
  it('is sent by POST only: a link, an image or a method in disguise changes nothing', async () => {
    const client = await server.createClient();
    const user = await server.createUser();
    const browser = new Agent(server.baseUrl);
    await obtainToken(browser, client, user);
    const account = await browser.get('/account');
    const payment = await open(browser, client, { scope: 'payment-shop' });
    const consent = await open(browser, client);
    const forms = [account, payment, consent].flatMap(({ forms }) => forms);
    expect(new Set(forms.map(({ action }) => action))).toEqual(
      new Set([
        '/sign-out',
        '/account/disconnect',
        '/account/stop',
        '/payment-password',
        '/reject',
        '/consent',
        '/language',
      ]),
    );
    const before = await contentsOf(server);
    const typed = { decision: 'allow', payment_password: user.paymentPassword ?? '', login: user.login };
    for (const { action, fields } of [
      ...forms,
      { action: '/sign-in', fields: { password: user.password } },
    ]) {
      const query = new URLSearchParams({ ...fields, ...typed });
      for (const method of ['GET', 'HEAD', 'PUT', 'DELETE']) {
        const headers = { 'x-http-method-override': 'POST' };
        const answer = await browser.send(`${action}?${query}&_method=post`, { method, headers });
        // GET /reject is a page, for which these parameters are no request.
        expect([303, 405, ...(action === '/reject' ? [400] : [])]).toContain(answer.status);
      }
    }
    expect(await contentsOf(server)).toEqual(before);
    expect((await browser.get('/account')).text).toContain(user.login);
  });

  it('is tied to its session: with the token of another one, even of the same user, it does nothing', async () => {
    const client = await server.createClient();
    const token = await obtainToken(new Agent(server.baseUrl), client, victim);
    const [one, other] = [await signedIn(server, shop, victim), await signedIn(server, shop, victim)];
    const mallory = await signedIn(server, shop, attacker);
    const account = await one.get('/account');
    for (const browser of [other, mallory]) {
      for (const { action, fields } of account.forms) {
        await browser.post(action, fields);
        await browser.post(action, { ...fields, form_token: '' });
        const { form_token: _left, ...without } = fields;
        await browser.post(action, without);
      }
      expect((await browser.get('/account')).page).toBe('account');
    }
    expect(await isLive(server, resource, token)).toBe(true);
    expect((await one.get('/account')).page).toBe('account');
  });
});

describe('what the browser is given to keep', () => {
  it('says nothing: no cookie holds a part of the request, the user, the application or a form', async () => {
    const client = await server.createClient({ name: 'Corner Shop' });
    const browser = new Agent(server.baseUrl);
    const request = { state: 'state-of-the-shop', instance_name: 'phone-of-the-user' };
    const kept: string[] = [];
    const note = () => kept.push(...[...browser.cookies].flat());
    const signInPage = await open(browser, client, request);
    note();
    await signIn(browser, signInPage, victim);
    note();
    await decide(browser, await open(browser, client, request), 'allow');
    note();
    const decoded = kept
      .flatMap((text) => [text, Buffer.from(text, 'base64url').toString('latin1')])
      .join('\n');
    const values = ['Corner Shop', ...Object.values(request), 'account-info', '127.0.0.1:9'];
    for (const value of [client.clientId, victim.login, victim.userId, ...values])
      expect(decoded).not.toContain(value);
    expect([...browser.cookies.keys()].sort()).toEqual([
      'assent_device',
      'assent_outcome',
      'assent_seen',
      'assent_session',
      'assent_visit',
    ]);
    for (const cookie of browser.cookies.values()) expect(cookie).toMatch(/^[\w-]{35,140}$/);
  });
});
