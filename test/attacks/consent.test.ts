import { describe, expect, it } from 'vitest';
import { flowAt } from '../contract/flowAt.ts';
import { fieldsFor, follow, press, signedIn } from '../support/account.ts';
import {
  codeOf,
  confirm,
  leadsTo,
  linkTo,
  obtainToken,
  reachConsent,
  requestOf,
  returnFrom,
  press as send,
} from '../support/flow.ts';
import { type Agent, type Answer, formWith } from '../support/http/agent.ts';
import { expectToken } from '../support/http/tokenRequests.ts';
import { expectErrorPage } from '../support/pages.ts';
import { waitForLocks, whileHeld } from '../support/postgres/locks.ts';
import { type TestClient, type TestUser, useServer } from '../support/server.ts';
import { expireCode } from '../support/state.ts';
import { open } from './browsers.ts';

// An attacker wants an authorization that the user did not mean to give: another one, a larger one, or one at all.

const server = await useServer();

const { user: victim, agent: browser, ...flow } = await flowAt(server);
const { reachPage, tokenFor, exchanged, introspected, live, writingNothing } = flow;
const attacker = await server.createUser({ paymentPassword: null });

it('extra parameters in the body or URL of the consent form don’t change what is allowed [consent-1]', async () => {
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
  const form = formWith(await reachPage(shop, { scope: 'account-info', state: 's' }), 'decision');
  const decided = { ...form.fields, decision: 'allow' };
  const url = `${form.action}?${new URLSearchParams(wishes)}`;
  const answer = await browser.post(url, { ...wishes, ...decided });
  expect(answer.location).toBe(`${shop.redirectUri}?state=s&code=${codeOf(answer)}`);
  const token = expectToken(await exchanged(shop, codeOf(answer)));
  const told = await introspected(token);
  expect(told).toMatchObject({ scope: 'account-info', client_id: shop.clientId, sub: victim.userId });
  expect(told).not.toHaveProperty('instance_name');
});

type Paying = { readonly payer: TestUser; readonly tabs: Agent; readonly shop: TestClient };

/** A user with a payment password in a browser of their own, who has pressed Allow for a right that spends. */
async function pressed(at: Partial<Paying> = {}) {
  const payer = at.payer ?? (await server.createUser());
  const tabs = at.tabs ?? (await signedIn(server, payer));
  const shop = at.shop ?? (await server.createClient({ userLimits: true }));
  const page = await open(tabs, shop, { scope: 'payment-shop.limit(7,1500)' });
  const form = formWith(page, 'decision');
  const sent = { ...form.fields, limit_0: '900', decision: 'allow' };
  const decision = decisionIn(await tabs.post(form.action, sent));
  return { payer, tabs, shop, page, request: form.fields.request ?? '', decision };
}

type Pressed = Awaited<ReturnType<typeof pressed>>;

const decisionIn = ({ location }: Answer) => new URL(location ?? '').searchParams.get('decision') ?? '';

const confirmed = ({ tabs, payer, request, decision }: Pressed, beside: Record<string, string> = {}) =>
  tabs.post('/oauth/confirm', {
    ...beside,
    request,
    decision,
    payment_password: payer.paymentPassword ?? '',
  });

async function expectNoPage({ tabs, request, decision }: Pressed, ...paths: string[]): Promise<void> {
  for (const path of paths) {
    const answer = await tabs.get(`${path}?${request}&${new URLSearchParams({ decision })}`);
    expect(leadsTo(answer, '/oauth/authorize'), answer.text).toBe(true);
  }
}

/** Uses a decision in every place, also with the right payment password. */
async function expectUseless(
  at: Pressed,
  paths = ['/oauth/confirm', '/oauth/receipt', '/oauth/return'],
): Promise<void> {
  await writingNothing(async () => {
    expect(leadsTo(await confirmed(at), '/oauth/authorize')).toBe(true);
    await expectNoPage(at, ...paths);
  });
}

describe('the payment password', () => {
  it('allows nothing without Allow by the same session for the same request, nor gives others its code', async () => {
    const at = await pressed();
    const { decision_token = '' } = formWith(at.page, 'decision').fields;
    const { form_token = '' } = fieldsFor(at.page, '/oauth/sign-out');
    for (const decision of ['', 'allow', decision_token, form_token])
      await expectUseless({ ...at, decision });
    const elsewhere = await signedIn(server, at.payer);
    const thief = await pressed({ shop: at.shop });
    const evil = await pressed({ payer: at.payer, tabs: at.tabs });
    for (const other of [
      { tabs: elsewhere },
      { tabs: thief.tabs, payer: thief.payer },
      { decision: thief.decision },
      { decision: evil.decision },
      { request: evil.request },
    ])
      await expectUseless({ ...at, ...other });
    codeOf(await returnFrom(at.tabs, await confirmed(at)));
    const confirmedPages = ['/oauth/receipt', '/oauth/return'];
    for (const tabs of [elsewhere, thief.tabs]) await expectNoPage({ ...at, tabs }, ...confirmedPages);
    await expireCode(server, at.shop);
    await expectNoPage(at, ...confirmedPages);
  });

  it('confirms only the amounts sent with Allow, even if extra fields contain higher ones', async () => {
    const at = await pressed();
    const { action, fields } = formWith(at.page, 'decision');
    const higher = decisionIn(await at.tabs.post(action, { ...fields, limit_0: '1500', decision: 'allow' }));
    const wishes = { limit_0: '1500', sums: '1500', scope: 'payment-p2p', decision_token: 'x' };
    await expectNoPage(at, '/oauth/receipt', '/oauth/return');
    const code = codeOf(await returnFrom(at.tabs, await confirmed(at, wishes)));
    await expectUseless({ ...at, decision: higher });
    const token = expectToken(await exchanged(at.shop, code));
    expect(await introspected(token)).toMatchObject({ scope: 'payment-shop.limit(7,900)' });
  });

  it('can’t confirm twice: after the code was used, the grant ended or was approved again', async () => {
    const at = await pressed();
    const { tabs, payer, shop } = at;
    const code = codeOf(await returnFrom(tabs, await confirmed(at)));
    const token = expectToken(await exchanged(shop, code));
    await expectUseless(at, ['/oauth/confirm', '/oauth/return']);
    expect(await live(token)).toBe(true);
    await press(tabs, await tabs.get('/oauth/account'), '/oauth/account/disconnect');
    await expectUseless(at, ['/oauth/confirm', '/oauth/return']);
    const newer = await obtainToken(tabs, shop, payer);
    await expectUseless(at);
    expect(await live(newer)).toBe(true);
  });
});

describe('Allow and Reject of one page', () => {
  async function bothOf(at: Paying, scope: string) {
    const page = await reachConsent(at.tabs, requestOf(at.shop, { scope }), at.payer);
    const reject = () => send(at.tabs, page, 'reject');
    if (scope === 'account-info') return { allow: () => send(at.tabs, page, 'allow'), reject };
    const ready = await follow(at.tabs, await send(at.tabs, page, 'allow'));
    return { allow: () => confirm(at.tabs, ready, at.payer.paymentPassword), reject };
  }

  const isDenied = ({ location }: Answer) => location?.includes('error=access_denied') ?? false;

  async function people() {
    const payer = await server.createUser();
    return { payer, tabs: await signedIn(server, payer), shop: await server.createClient() };
  }

  it.each([
    ['Allow', 'account-info'],
    ['the payment password after Allow', 'payment-shop'],
  ])('count in the order sent, even if both wait for a lock: Reject and %s', async (_what, scope) => {
    const at = await people();
    const { pool } = server.database;
    for (const first of ['reject', 'allow'] as const) {
      const both = await bothOf(at, scope);
      const second = first === 'allow' ? 'reject' : 'allow';
      const lock = 'select from users where user_id = $1 for update';
      const sent = await whileHeld(pool, lock, [at.payer.userId], async () => {
        const one = both[first]();
        await waitForLocks(pool, 1);
        const other = both[second]();
        await waitForLocks(pool, 2);
        return { [first]: one, [second]: other } as Record<'allow' | 'reject', Promise<Answer>>;
      });
      const [answer, rejected] = [await returnFrom(at.tabs, await sent.allow), await sent.reject];
      expect([isDenied(answer), isDenied(rejected)]).toEqual(Array(2).fill(first === 'reject'));
      if (first === 'allow') expectToken(await exchanged(at.shop, codeOf(answer)));
    }
  });
});

it.each([true, false])(
  'the consent page is shown again to a user who allowed the same before (confidential client: %s) [consent-2]',
  async (verified) => {
    const client = await server.createClient({ verified });
    await tokenFor(client);
    const wishes = { prompt: 'none', approval_prompt: 'auto', login_hint: victim.login, decision: 'allow' };
    await writingNothing(async () => {
      for (const wish of [{}, wishes]) {
        const request = requestOf(client, wish);
        expect((await browser.get(linkTo(request))).page).toBe('consent');
        const posted = await browser.post('/oauth/authorize', request);
        expect((await browser.get(posted.location ?? '')).page).toBe('consent');
        const foreign = linkTo({ ...request, redirect_uri: 'https://evil.example/' });
        expectErrorPage(await browser.get(foreign), 'invalid_request');
      }
    });
  },
);
