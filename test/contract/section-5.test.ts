import { describe, expect, it } from 'vitest';
import { actorsAt, follow, signedIn } from '../support/account.ts';
import { confirm, decide, leadsTo, obtainToken, press, requestOf, verdictOn } from '../support/flow.ts';
import { Agent, type Answer, formWith } from '../support/http/agent.ts';
import { expectToken, expectTokenError, type Fields } from '../support/http/tokenRequests.ts';
import { ledger } from '../support/ledger.ts';
import { expectErrorPage } from '../support/pages.ts';
import { startServer, useServer } from '../support/server.ts';
import { setClientStatus } from '../support/state.ts';
import { flowAt, open } from './flowAt.ts';

const server = await useServer();

const { user, codeFor, tokenFor, exchanged, introspected, live, writingNothing } = await flowAt(server);
const payer = await server.createUser();
const shop = await server.createClient();

const PAYING = { scope: 'account-info payment-shop.limit(7,1500)' };
const openShop = (browser: Agent, fields?: Fields) => open(browser, requestOf(shop, fields));

function enter(browser: Agent, page: Answer, { login, password } = user): Promise<Answer> {
  return browser.submit(page, 'login', { login, password });
}

/** Allows a request, up to the page that asks for the payment password. */
async function allowPaying(browser: Agent, consent?: Answer): Promise<Answer> {
  const answer = await press(browser, consent ?? (await openShop(browser, PAYING)), 'allow');
  return follow(browser, answer);
}

describe('contract 5.1: the sign-in page', () => {
  it('5.1 has a login field and a masked password field', async () => {
    const page = await openShop(new Agent(server.baseUrl));
    const { action, inputs } = formWith(page, 'login');
    expect(action).toBe('/oauth/sign-in');
    expect(inputs).toEqual(['login', 'password']);
    expect(page.body).toMatch(/<input[^>]*name="password"[^>]*type="password"/);
  });

  it('5.1 continues to the request with a session that scripts and other sites can’t use', async () => {
    const browser = new Agent(server.baseUrl);
    const answer = await enter(browser, await openShop(browser));
    expect(answer.status).toBe(303);
    expect(answer.location).toContain(`${server.baseUrl}/oauth/authorize?client_id=${shop.clientId}&`);
    const cookies = answer.headers.getSetCookie().filter((line) => line.startsWith('assent_session='));
    expect(cookies).toEqual([expect.stringMatching(/^[^;]+; Path=\/; HttpOnly; SameSite=Lax$/)]);
    expect((await browser.get(answer.location ?? '')).page).toBe('consent');
  });

  it('5.1 shows the form again after a wrong password, with the login but no password', async () => {
    const browser = new Agent(server.baseUrl);
    const page = await openShop(browser);
    const wrong = { ...user, password: 'quite wrong' };
    const answer = await follow(browser, await writingNothing(() => enter(browser, page, wrong)));
    expect([answer.status, answer.page]).toEqual([200, 'sign-in']);
    expect(answer.body).toContain(`value="${user.login}"`);
    expect(answer.body).not.toContain('quite wrong');
    expect(browser.cookies.has('assent_session')).toBe(false);
  });

  it('5.1 never accepts the payment password as the password, or the reverse', async () => {
    const browser = new Agent(server.baseUrl);
    const page = await openShop(browser, PAYING);
    const swapped = { ...payer, password: payer.paymentPassword ?? '' };
    expect(await verdictOn(browser, await enter(browser, page, swapped))).toBe('wrong');
    const consent = await follow(browser, await enter(browser, page, payer));
    const payment = await allowPaying(browser, consent);
    expect(await verdictOn(browser, await confirm(browser, payment, payer.password))).toBe('wrong');
  });
});

describe('contract 5.1: sessions', () => {
  const setNewest = (change: string) =>
    server.database.pool.query(
      `update sessions set ${change} where created_at = (select max(created_at) from sessions)`,
    );

  it.each([
    ['ends when it was idle for too long', 'seen_at', '30 minutes 1 second', 'sign-in'],
    ['is valid if used in time', 'seen_at', '29 minutes', 'consent'],
    ['ends at its greatest age', 'created_at', '12 hours 1 second', 'sign-in'],
    ['is valid if younger', 'created_at', '11 hours 59 minutes', 'consent'],
  ])('5.1 a session %s', async (_what, column, age, page) => {
    const browser = await signedIn(server, user);
    await setNewest(`${column} = clock_timestamp() - interval '${age}'`);
    expect((await openShop(browser)).page).toBe(page);
  });

  it('5.1 a page view extends the idle timeout of a session', async () => {
    const browser = await signedIn(server, user);
    for (const view of [1, 2, 3]) {
      await setNewest(`seen_at = seen_at - interval '20 minutes'`);
      expect([view, (await openShop(browser)).page]).toEqual([view, 'consent']);
    }
  });
});

describe('contract 5.1: the payment password', () => {
  it('5.1 is requested after Allow if a right spends money [contract-25]', async () => {
    const page = await allowPaying(await signedIn(server, payer));
    expect([page.status, page.page]).toEqual([200, 'confirm']);
    const { action, inputs } = formWith(page, 'payment_password');
    expect([action, inputs]).toEqual(['/oauth/confirm', ['payment_password']]);
    expect(page.body).toMatch(/<input[^>]*name="payment_password"[^>]*type="password"/);
  });

  it('5.1 is not requested for Reject, or if the rights spend no money', async () => {
    const browser = await signedIn(server, payer);
    const scope = 'account-info operation-history operation-details incoming-transfers money-source("card")';
    expect((await press(browser, await openShop(browser, { scope }), 'allow')).status).toBe(302);
    const rejected = await press(browser, await openShop(browser, PAYING), 'reject');
    expect([rejected.status, rejected.location]).toEqual([302, `${shop.redirectUri}?error=access_denied`]);
  });

  it('5.1 is requested again if it is wrong, with an error on this page only, and for the next request [contract-26]', async () => {
    const browser = await signedIn(server, payer);
    const page = await allowPaying(browser);
    for (const wrong of ['', 'wrong', `${payer.paymentPassword} `]) {
      const answer = await follow(browser, await writingNothing(() => confirm(browser, page, wrong)));
      expect([answer.status, answer.page]).toEqual([200, 'confirm']);
      expect(answer.text).toContain('The payment password is wrong.');
      expect(answer.text).toContain('pay any shop up to RUB 1,500 in any 7 days');
    }
    for (const other of [await openShop(browser, PAYING), await allowPaying(browser)])
      expect(other.body).not.toContain('id="error"');
    expect(leadsTo(await confirm(browser, page, payer.paymentPassword), '/oauth/receipt')).toBe(true);
    expect((await allowPaying(browser)).page).toBe('confirm');
  });
});

describe('contract 5.2 and 5.3: the application', () => {
  it('5.3 must send its own client_secret, character by character [contract-27]', async () => {
    const other = await server.createClient();
    const code = await codeFor(shop);
    const secret = shop.clientSecret ?? '';
    for (const wrong of [other.clientSecret ?? '', secret.toUpperCase(), `${secret} `, secret.slice(0, -1)])
      expectTokenError(await exchanged(shop, code, { client_secret: wrong }), 'unauthorized_client');
    expectToken(await exchanged(shop, code));
  });

  it('5.3 is refused after its only secret is retired, with that secret and without one', async () => {
    const client = await server.createClient();
    const code = await codeFor(client);
    const retire = 'update client_secrets set retired_at = clock_timestamp() where client_id = $1';
    await server.database.pool.query(retire, [client.clientId]);
    for (const changes of [{}, { client_secret: undefined }])
      expectTokenError(await exchanged(client, code, changes), 'unauthorized_client');
  });

  it('5.3 needs no client_secret if it is registered without verification, and a sent one is ignored [contract-28]', async () => {
    const client = await server.createClient({ verified: false });
    for (const client_secret of [undefined, 'anything'])
      expectToken(await exchanged(client, await codeFor(client), { client_secret }));
  });

  it('5.2 is refused on open pages while blocked, and can exchange its code once unblocked', async () => {
    const client = await server.createClient();
    const stranger = new Agent(server.baseUrl);
    const browser = await signedIn(server, payer);
    const signIn = await open(stranger, requestOf(client));
    const payment = await allowPaying(browser, await open(browser, requestOf(client, PAYING)));
    const consent = await open(browser, requestOf(client));
    const code = await codeFor(client, { instance_name: 'phone' });
    await setClientStatus(server, client, 'blocked');
    await writingNothing(async () => {
      for (const page of [
        await enter(stranger, signIn, payer),
        await confirm(browser, payment, payer.paymentPassword),
        await decide(browser, consent, 'allow'),
        await decide(browser, consent, 'reject'),
      ])
        expectErrorPage(page, 'unauthorized_client');
    });
    await setClientStatus(server, client, 'active');
    expectToken(await exchanged(client, code));
  });
});

describe('contract 5.5: secrecy of the access token', () => {
  it('5.5 never stores or logs a code, token, password, secret or session in readable form [contract-29]', async () => {
    const own = await startServer();
    const { client, user, agent } = await actorsAt(own);
    await obtainToken(agent, client, user, PAYING);
    const made = ['access token', 'client secret', 'code', 'password', 'payment password', 'session cookie'];
    expect(ledger.kinds()).toEqual(expect.arrayContaining(made));
    await own.close(); // searches the log and every row
  });

  it('5.5 accepts only the complete token: a changed, truncated or extended one gives no right [contract-30]', async () => {
    const token = await tokenFor(shop);
    const changed = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`;
    for (const other of [changed, token.slice(0, -1), `${token}A`, token.toUpperCase(), ` ${token}`])
      expect(await introspected(other)).toEqual({ active: false });
    expect(await live(token)).toBe(true);
  });
});
