import { describe, expect, it } from 'vitest';
import { Agent, formWith } from '../support/agent.ts';
import {
  codeOf,
  decide,
  introspect,
  obtainCode,
  obtainToken,
  reachConsent,
  requestOf,
} from '../support/flow.ts';
import { expectErrorPage } from '../support/pages.ts';
import { type TestClient, useServer } from '../support/server.ts';
import { contentsOf, setClientStatus } from '../support/state.ts';
import { exchange, expectToken } from '../support/tokenRequests.ts';
import { linkTo, open, signedIn } from './browsers.ts';

// An attacker wants an authorization that the user did not mean to give: another one, a larger one, or one at all.

const server = await useServer();

const victim = await server.createUser({ paymentPassword: null });
const attacker = await server.createUser({ paymentPassword: null });
const resource = await server.createResource();
const browser = await signedIn(server, await server.createClient(), victim);

describe('parameters beside the form of the consent page', () => {
  it('change nothing of what is allowed: neither in the body nor in the URL, under no name', async () => {
    const [shop, evil] = [
      await server.createClient(),
      await server.createClient({ redirectUri: 'https://evil.example/' }),
    ];
    const wishes = {
      scope: 'payment-p2p.limit(9999,1000000)',
      client_id: evil.clientId,
      redirect_uri: evil.redirectUri,
      response_type: 'token',
      state: 'of the attacker',
      instance_name: 'of the attacker',
      user_id: attacker.userId,
      login: attacker.login,
      grant_id: '00000000-0000-0000-0000-000000000000',
      revision: '0',
      approved: 'true',
      'authorizationRequest.scope': 'payment-p2p',
      'request.scope': 'payment-p2p',
      'scope[]': 'payment-p2p',
      'approvalParameters[user_oauth_approval]': 'true',
    };
    const form = formWith(await open(browser, shop, { scope: 'account-info', state: 's' }), 'decision');
    const decided = { ...form.fields, decision: 'allow' };
    const answer = await browser.post(`${form.action}?${new URLSearchParams(wishes)}`, {
      ...wishes,
      ...decided,
    });
    expect(answer.location).toBe(`${shop.redirectUri}?state=s&code=${codeOf(answer)}`);
    const token = expectToken(await exchange(server, shop, codeOf(answer)));
    const told = await introspect(server, resource, token);
    expect(told).toMatchObject({ scope: 'account-info', client_id: shop.clientId, sub: victim.userId });
    expect(told).not.toHaveProperty('instance_name');
  });

  it('are refused when they repeat what the form says', async () => {
    const shop = await server.createClient();
    const form = formWith(await open(browser, shop), 'decision');
    const encoded = new URLSearchParams({ ...form.fields, decision: 'reject' });
    const before = await contentsOf(server);
    for (const second of ['decision=allow', `request=${encodeURIComponent(form.fields.request ?? '')}`])
      expectErrorPage(await browser.post(form.action, `${encoded}&${second}`), 'invalid_request');
    expect(await contentsOf(server)).toEqual(before);
  });
});

describe('a decision on one application', () => {
  it('is none on another: its token does not fit the request of the other, nor the request of the one its token', async () => {
    const [shop, evil] = [await server.createClient(), await server.createClient()];
    const [asked, wanted] = [await open(browser, shop), await open(browser, evil)];
    const [ofShop, ofEvil] = [formWith(asked, 'decision'), formWith(wanted, 'decision')];
    const before = await contentsOf(server);
    for (const fields of [
      { ...ofShop.fields, request: ofEvil.fields.request ?? '' },
      { ...ofEvil.fields, request: ofShop.fields.request ?? '' },
    ]) {
      const answer = await browser.post(ofShop.action, { ...fields, decision: 'allow' });
      expect([answer.status, answer.location?.startsWith(server.baseUrl)]).toEqual([303, true]);
    }
    expect(await contentsOf(server)).toEqual(before);
  });

  it('that the attacker made in their own browser allows nothing in the browser of the victim', async () => {
    const evil = await server.createClient({ verified: false });
    const mallory = await signedIn(server, evil, attacker);
    const prepared = formWith(await open(mallory, evil, { scope: 'payment-p2p' }), 'decision');
    const before = await contentsOf(server);
    const answer = await browser.post(prepared.action, { ...prepared.fields, decision: 'allow' });
    expect(answer.status).toBe(303);
    expect((await browser.get(answer.location ?? '')).page).toBe('consent');
    expect(await contentsOf(server)).toEqual(before);
  });
});

describe('the page that can only reject, which comes before the payment password', () => {
  it('allows nothing, however its token is sent', async () => {
    const [shop, payer] = [await server.createClient(), await server.createUser()];
    const thief = await signedIn(server, shop, payer);
    const query = new URLSearchParams(requestOf(shop, { scope: 'payment-shop' })).toString();
    const page = await thief.get(`/reject?${query}`);
    expect(page.page).toBe('reject');
    const { action, fields } = formWith(page, 'decision');
    const before = await contentsOf(server);
    const wishes = [{ decision: 'allow' }, { decision: 'allow', form_token: fields.decision_token ?? '' }];
    for (const path of [action, '/reject', '/payment-password', '/consent?decision=allow']) {
      for (const wish of wishes) {
        const answer = await thief.post(path, { ...fields, ...wish, payment_password: '' });
        expect([answer.status, answer.location?.startsWith(server.baseUrl)]).toEqual([303, true]);
      }
    }
    expect((await thief.get(`/oauth/authorize?${query}`)).page).toBe('payment-password');
    expect(await contentsOf(server)).toEqual(before);
  });

  it('allows nothing even when the payment password is typed in another tab meanwhile', async () => {
    const [shop, payer] = [await server.createClient(), await server.createUser()];
    const tabs = await signedIn(server, shop, payer);
    const asked = requestOf(shop, { scope: 'payment-shop' });
    const page = await tabs.get(`/reject?${new URLSearchParams(asked)}`);
    await reachConsent(tabs, asked, payer);
    const before = await contentsOf(server);
    const answer = await decide(tabs, page, 'allow');
    expect([answer.status, answer.location?.startsWith(server.baseUrl)]).toEqual([303, true]);
    expect(await contentsOf(server)).toEqual(before);
  });
});

describe('an application that is allowed already', () => {
  it.each([true, false])(
    'is not allowed again without the user, whatever it sends (verified: %s)',
    async (verified) => {
      const client = await server.createClient({ verified });
      await obtainToken(browser, client, victim);
      const before = await contentsOf(server);
      for (const wish of [
        {},
        { prompt: 'none' },
        { approval_prompt: 'auto' },
        { skip_consent: 'true', trusted: '1' },
        { login_hint: victim.login, max_age: '0' },
        { decision: 'allow', approve: 'yes' },
      ]) {
        const request = requestOf(client, wish);
        expect((await browser.get(linkTo(request))).page).toBe('consent');
        const posted = await browser.post('/oauth/authorize', request);
        expect((await browser.get(posted.location ?? '')).page).toBe('consent');
      }
      expect(await contentsOf(server)).toEqual(before);
    },
  );

  it('shows every right of a request that asks for more than before, and gets exactly those', async () => {
    const client = await server.createClient();
    await obtainToken(browser, client, victim, { scope: 'account-info' });
    const scope = 'account-info operation-history payment-p2p.limit(7,100)';
    const page = await open(browser, client, { scope });
    const asked = page.text.slice(0, page.text.indexOf('disconnects an earlier authorization'));
    for (const right of [
      'See your account number, balance and status',
      'See the list of your transactions',
      'Transfer money to anyone At most RUB 100 in any 7 days',
      'Paid from: your wallet',
    ]) {
      expect(asked).toContain(right);
    }
    const token = expectToken(await exchange(server, client, codeOf(await decide(browser, page, 'allow'))));
    expect(await introspect(server, resource, token)).toMatchObject({ scope });
  });

  it('gets nothing by a page from before what it may ask for was narrowed, or before it was blocked', async () => {
    const client = await server.createClient();
    const page = await open(browser, client, { scope: 'payment-p2p' });
    const narrowed = `update clients set allowed_rights = '{account-info}' where client_id = $1`;
    await server.database.pool.query(narrowed, [client.clientId]);
    const before = await contentsOf(server);
    expectErrorPage(await decide(browser, page, 'allow'), 'invalid_scope');
    await setClientStatus(server, client, 'blocked');
    expectErrorPage(await decide(browser, page, 'allow'), 'unauthorized_client');
    expect(await contentsOf(server)).toEqual(before);
  });
});

describe('a link', () => {
  it('decides nothing: no GET or HEAD of any address gives a code, whatever it carries', async () => {
    const client = await server.createClient();
    const form = formWith(await open(browser, client), 'decision');
    const decided = new URLSearchParams({ ...form.fields, decision: 'allow' });
    const before = await contentsOf(server);
    for (const method of ['GET', 'HEAD']) {
      for (const url of [
        `${form.action}?${decided}`,
        `${form.action}?${decided}&_method=POST`,
        `/oauth/authorize?${form.fields.request}&${decided}`,
        `/account?${decided}`,
      ]) {
        const answer = await browser.send(url, { method, headers: { 'x-http-method-override': 'POST' } });
        expect([200, 400, 405]).toContain(answer.status);
        expect(answer.location).toBeNull();
      }
    }
    expect(await contentsOf(server)).toEqual(before);
  });
});

describe('an earlier decision', () => {
  it('is not taken twice: its form gives no second authorization after the first was used or taken back', async () => {
    const client = await server.createClient();
    const page = await open(browser, client);
    const token = expectToken(await exchange(server, client, codeOf(await decide(browser, page, 'allow'))));
    expect((await decide(browser, page, 'allow')).page).toBe('notice');
    const account = await browser.get('/account');
    for (const { action, fields } of account.forms.filter((form) => form.action === '/account/disconnect'))
      await browser.post(action, fields);
    expect(await introspect(server, resource, token)).toEqual({ active: false });
    const before = await contentsOf(server);
    const again = await decide(browser, page, 'allow');
    expect(again.location ?? '').not.toContain('code=');
    expect(await contentsOf(server)).toEqual(before);
  });

  it('of one user is none of another, who has a grant of their own', async () => {
    const client: TestClient = await server.createClient();
    const mallory = await signedIn(server, client, attacker);
    await obtainCode(mallory, requestOf(client), attacker);
    await obtainCode(browser, requestOf(client), victim);
    const page = await open(browser, client, { scope: 'payment-p2p' });
    const before = await contentsOf(server);
    expect((await decide(mallory, page, 'allow')).status).toBe(303);
    expect((await decide(new Agent(server.baseUrl), page, 'allow')).status).toBe(303);
    expect(await contentsOf(server)).toEqual(before);
  });
});
