import { describe, expect, it } from 'vitest';
import { flowAt } from '../contract/flowAt.ts';
import { copyOf, fieldsFor, follow, isSignedIn, signedIn } from '../support/account.ts';
import { codeOf, decide, linkTo, obtainToken, press, requestOf } from '../support/flow.ts';
import { Agent, type Answer, formWith } from '../support/http/agent.ts';
import { expectToken } from '../support/http/tokenRequests.ts';
import { newSecret } from '../support/ledger.ts';
import { commandsOn } from '../support/process/commands.ts';
import { onDatabase } from '../support/process/process.ts';
import { useServer } from '../support/server.ts';
import { open, sessionOf, signIn } from './browsers.ts';

// An attacker wants the victim's session, or the victim in the attacker's, or the victim's forms sent.

const server = await useServer();

const { user: victim, tokenFor, exchanged, introspected, live, writingNothing } = await flowAt(server);
const attacker = await server.createUser({ paymentPassword: null });
const shop = await server.createClient();

const { json } = commandsOn(onDatabase(server.database.url));

it('a planted cookie never becomes the session of the victim: neither a forged one nor the attacker’s own [sessions-1]', async () => {
  const mallory = await signedIn(server, attacker);
  for (const planted of ['made-up', newSecret(), sessionOf(mallory) ?? '']) {
    const fixed = new Agent(server.baseUrl);
    const page = await open(fixed, shop);
    fixed.cookies.set('assent_session', planted);
    await signIn(fixed, page, victim);
    expect(sessionOf(fixed)).toMatch(/^[\w-]{43}$/);
    expect(sessionOf(fixed)).not.toBe(planted);
    const thief = new Agent(server.baseUrl);
    thief.cookies.set('assent_session', planted);
    expect(await isSignedIn(thief)).toBe(false);
    expect((await fixed.get('/oauth/account')).text).toContain(victim.login);
  }
});

describe('the end of a session', () => {
  it('is final at sign-out: a copied cookie and open forms no longer work [sessions-2]', async () => {
    const browser = await signedIn(server, victim);
    const page = await open(browser, shop);
    const kept = copyOf(browser);
    await browser.post('/oauth/sign-out', fieldsFor(await browser.get('/oauth/account'), '/oauth/sign-out'));
    expect(await isSignedIn(kept)).toBe(false);
    expect((await decide(kept, page, 'allow')).status).toBe(303);
    await signIn(kept, await open(kept, shop), attacker);
    const account = await kept.get('/oauth/account');
    expect(account.text).toContain(attacker.login);
    expect(account.text).not.toContain(victim.login);
  });

  it.each([
    ['the operator blocks and unblocks the user', ['block', 'unblock'], ''],
    ['the password is changed', ['set-password --password-stdin'], `${newSecret()}\n`],
  ])('is final in every browser and for every open form: %s [sessions-3]', async (_what, acts, stdin) => {
    const user = await server.createUser({ paymentPassword: null });
    const browsers = [await signedIn(server, user), await signedIn(server, user)];
    const pages = await Promise.all(browsers.map((browser) => open(browser, shop)));
    for (const act of acts) await json(`user ${act} ${user.login}`, stdin);
    for (const [index, browser] of browsers.entries()) {
      expect(await isSignedIn(browser)).toBe(false);
      expect((await decide(browser, pages[index] as Answer, 'allow')).status).toBe(303);
    }
  });
});

it.each([
  ['a sign-out', true],
  ['a loss of the cookies', false],
])(
  'the second user of a browser gets a new session, and can’t use forms of the first: after %s [sessions-4]',
  async (_what, signsOut) => {
    const browser = new Agent(server.baseUrl);
    await signIn(browser, await open(browser, shop), victim);
    const [first, page] = [sessionOf(browser), await open(browser, shop)];
    if (signsOut) await browser.post('/oauth/sign-out', fieldsFor(page, '/oauth/sign-out'));
    else browser.cookies.clear();
    await signIn(browser, await open(browser, shop), attacker);
    expect(sessionOf(browser)).not.toBe(first);
    expect((await decide(browser, page, 'allow')).status).toBe(303);
    const code = codeOf(await decide(browser, await open(browser, shop), 'allow'));
    const token = expectToken(await exchanged(shop, code));
    expect(await introspected(token)).toMatchObject({ sub: attacker.userId });
  },
);

describe('a form of Assent', () => {
  it('works by POST only: a link, an image or a method override changes nothing [sessions-5]', async () => {
    const user = await server.createUser();
    const browser = new Agent(server.baseUrl);
    await obtainToken(browser, shop, user);
    const [account, stop] = [await browser.get('/oauth/account'), await browser.get('/oauth/account/stop')];
    const spending = await open(browser, shop, { scope: 'payment-shop' });
    const payment = await follow(browser, await press(browser, spending, 'allow'));
    const consent = await open(browser, shop);
    const forms = [account, stop, payment, consent].flatMap((page) => page.forms);
    expect(new Set(forms.map(({ action }) => action)).size).toBe(6);
    const typed = { decision: 'allow', payment_password: user.paymentPassword ?? '', login: user.login };
    const signingIn = { action: '/oauth/sign-in', fields: { password: user.password } };
    const authorizing = { action: linkTo(requestOf(shop)), fields: formWith(consent, 'decision').fields };
    const { request = '', decision = '' } = formWith(payment, 'payment_password').fields;
    const confirming = { action: `/oauth/confirm?${request}`, fields: { decision } };
    for (const { action, fields } of [...forms, signingIn, authorizing, confirming]) {
      const query = new URLSearchParams({ ...typed, ...fields, _method: 'post' });
      for (const method of ['GET', 'HEAD', 'PUT', 'DELETE']) {
        const headers = { 'x-http-method-override': 'POST' };
        const url = `${action}${action.includes('?') ? '&' : '?'}${query}`;
        const answer = await writingNothing(() => browser.send(url, { method, headers }));
        expect(answer.status).not.toBe(302);
        expect(answer.location ?? server.baseUrl).toContain(server.baseUrl);
      }
    }
    expect((await browser.get('/oauth/account')).text).toContain(user.login);
  });

  it('is bound to its session: in another one, even of the same user, its CSRF token is refused [sessions-6]', async () => {
    const token = await tokenFor(shop);
    const [one, other] = [await signedIn(server, victim), await signedIn(server, victim)];
    const mallory = await signedIn(server, attacker);
    const account = await one.get('/oauth/account');
    for (const browser of [other, mallory]) {
      for (const { action, fields } of account.forms) {
        await browser.post(action, fields);
        await browser.post(action, { ...fields, form_token: '' });
        const { form_token: _left, ...without } = fields;
        await browser.post(action, without);
      }
    }
    expect(await live(token)).toBe(true);
    expect(await Promise.all([one, other, mallory].map(isSignedIn))).toEqual([true, true, true]);
  });
});

it('the cookies contain no part of the request, the user, the application or a form [sessions-7]', async () => {
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
  // The outcome has the signed decision, for the way back to the application.
  for (const [name, cookie] of browser.cookies)
    expect(cookie).toMatch(name === 'assent_outcome' ? /^[\w-]{35,600}$/ : /^[\w-]{35,140}$/);
});

it('URLs contain no token or secret: tokens are only in response bodies, and no redirect has a fragment [sessions-8]', async () => {
  const browser = await signedIn(server, victim);
  const page = await open(browser, shop, { state: 's' });
  const answer = await decide(browser, page, 'allow');
  const token = expectToken(await exchanged(shop, codeOf(answer)));
  for (const seen of [page, answer, await browser.get('/oauth/account'), await open(browser, shop)]) {
    const text = `${seen.body}${JSON.stringify([...seen.headers])}`;
    for (const secret of [token, shop.clientSecret]) expect(text).not.toContain(secret);
    expect(seen.location ?? '').not.toMatch(/#|token/);
  }
});
