import { describe, expect, it } from 'vitest';
import { signedIn } from '../support/account.ts';
import { formWith } from '../support/agent.ts';
import { codeOf, decide, introspect, obtainToken, reachConsent, requestOf } from '../support/flow.ts';
import { expectErrorPage } from '../support/pages.ts';
import { useServer } from '../support/server.ts';
import { contentsOf } from '../support/state.ts';
import { exchange, expectToken } from '../support/tokenRequests.ts';
import { linkTo, open } from './browsers.ts';

// An attacker wants an authorization that the user did not mean to give: another one, a larger one, or one at all.

const server = await useServer();

const victim = await server.createUser({ paymentPassword: null });
const attacker = await server.createUser({ paymentPassword: null });
const resource = await server.createResource();
const browser = await signedIn(server, victim);

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
      state: 'of the attacker',
      instance_name: 'of the attacker',
      user_id: attacker.userId,
      login: attacker.login,
      'authorizationRequest.scope': 'payment-p2p',
      'request.scope': 'payment-p2p',
      'scope[]': 'payment-p2p',
      'approvalParameters[user_oauth_approval]': 'true',
    };
    const form = formWith(await open(browser, shop, { scope: 'account-info', state: 's' }), 'decision');
    const decided = { ...form.fields, decision: 'allow' };
    const url = `${form.action}?${new URLSearchParams(wishes)}`;
    const answer = await browser.post(url, { ...wishes, ...decided });
    expect(answer.location).toBe(`${shop.redirectUri}?state=s&code=${codeOf(answer)}`);
    const token = expectToken(await exchange(server, shop, codeOf(answer)));
    const told = await introspect(server, resource, token);
    expect(told).toMatchObject({ scope: 'account-info', client_id: shop.clientId, sub: victim.userId });
    expect(told).not.toHaveProperty('instance_name');
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
});

describe('the page that can only reject, which comes before the payment password', () => {
  it('allows nothing, however its token is sent', async () => {
    const [shop, payer] = [await server.createClient(), await server.createUser()];
    const thief = await signedIn(server, payer);
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
    const tabs = await signedIn(server, payer);
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
      const wishes = { prompt: 'none', approval_prompt: 'auto', login_hint: victim.login, decision: 'allow' };
      for (const wish of [{}, wishes]) {
        const request = requestOf(client, wish);
        expect((await browser.get(linkTo(request))).page).toBe('consent');
        const posted = await browser.post('/oauth/authorize', request);
        expect((await browser.get(posted.location ?? '')).page).toBe('consent');
        const foreign = linkTo({ ...request, redirect_uri: 'https://evil.example/' });
        expectErrorPage(await browser.get(foreign), 'invalid_request');
      }
      expect(await contentsOf(server)).toEqual(before);
    },
  );
});
