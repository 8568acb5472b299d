import * as cheerio from 'cheerio';
import { beforeEach, describe, expect, it } from 'vitest';
import { follow, signedIn } from '../support/account.ts';
import { Agent, type Answer, formWith } from '../support/agent.ts';
import { decide, obtainToken, reachConsent, requestOf } from '../support/flow.ts';
import { type TestClient, type TestUser, useServer } from '../support/server.ts';
import { contentsOf, isLive } from '../support/state.ts';

// Who does not want what an application asks can say so on the page that asks for the payment password, without typing it.

const server = await useServer();
const SPENDING = 'account-info payment-shop.limit(7,1500)';

let client: TestClient;
let user: TestUser;
let browser: Agent;
beforeEach(async () => {
  client = await server.createClient({ name: 'Corner Shop' });
  user = await server.createUser();
  browser = await signedIn(server, user);
});

const spending = (fields = {}) => requestOf(client, { scope: SPENDING, state: 's\n t', ...fields });
const linkOf = (fields = {}) => `/oauth/authorize?${new URLSearchParams(spending(fields))}`;

/** Presses Reject on the page that asks for the payment password. */
async function pressReject(asked: Answer): Promise<Answer> {
  const $ = cheerio.load(asked.body);
  const button = $('button[form=reject]');
  const form = $('form#reject');
  expect([button.text(), form.attr('action')]).toEqual(['Reject', '/reject']);
  const fields = form.find('input').toArray();
  const sent = fields.map((field) => [$(field).attr('name') ?? '', $(field).attr('value') ?? '']);
  return follow(browser, await browser.post('/reject', Object.fromEntries(sent)));
}

const reachReject = async (fields = {}) => pressReject(await browser.get(linkOf(fields)));

async function events(): Promise<unknown[]> {
  const { rows } = await server.database.pool.query(
    'select kind, scope from audit_events where client_id = $1 and user_id = $2 order by at',
    [client.clientId, user.userId],
  );
  return rows;
}

const backAtApplication = () => `${client.redirectUri}?state=s%0A%20t&error=access_denied`;

describe('Reject on the page of the payment password', () => {
  it('leads to a page with this one button, which goes back to the application', async () => {
    const page = await reachReject();
    expect([page.status, page.page]).toEqual([200, 'reject']);
    expect(page.text).toContain('Corner Shop is asking for access to your account');
    expect(page.text).toContain('At most RUB 1,500 in any 7 days');
    expect(page.text).toContain('Rejecting needs no payment password');
    expect(page.headers.get('content-security-policy')).not.toContain('form-action');
    expect(cheerio.load(page.body)('input[type=password]')).toHaveLength(0);
    expect(cheerio.load(page.body)('[name=decision]').toArray()).toHaveLength(1);
    const answer = await decide(browser, page, 'reject');
    expect([answer.status, answer.location]).toEqual([302, backAtApplication()]);
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(await events()).toEqual([{ kind: 'rejected', scope: SPENDING }]);
  });

  it('says that it was allowed in another tab meanwhile, and undoes nothing', async () => {
    const page = await reachReject();
    const consent = await reachConsent(browser, spending(), user);
    await decide(browser, consent, 'allow');
    const answer = await decide(browser, page, 'reject');
    expect((await follow(browser, answer)).text).toContain(
      'You already allowed this, so “Reject” on that page',
    );
    expect(await events()).toEqual([
      { kind: 'payment_confirmed', scope: null },
      { kind: 'approved', scope: SPENDING },
    ]);
  });

  it('sends nothing that was typed, and changes nothing by itself', async () => {
    const before = await contentsOf(server);
    const asked = await browser.get(linkOf());
    expect(asked.headers.get('content-security-policy')).toContain("form-action 'self'");
    expect(asked.forms.find(({ action }) => action === '/reject')?.inputs).toEqual([]);
    await pressReject(asked);
    expect(await contentsOf(server)).toEqual(before);
  });

  it('leaves an earlier authorization as it is, and says so', async () => {
    const resource = await server.createResource();
    const token = await obtainToken(browser, client, user, { scope: 'payment-shop' });
    const page = await reachReject();
    expect(page.text).toMatch(/The access that you gave Corner Shop on .* stays as it is/);
    await decide(browser, page, 'reject');
    expect(await isLive(server, resource, token)).toBe(true);
  });

  it('is one decision when it is pressed twice, and another on each page: when it came again, and in another tab', async () => {
    const page = await reachReject();
    const [again, consent] = [await reachReject(), await reachConsent(browser, spending(), user)];
    const answers = [];
    for (const pressed of [page, page, again, consent])
      answers.push(await decide(browser, pressed, 'reject'));
    expect(answers.map(({ location }) => location)).toEqual(Array(4).fill(backAtApplication()));
    const rejected = { kind: 'rejected', scope: SPENDING };
    expect(await events()).toEqual([{ kind: 'payment_confirmed', scope: null }, ...Array(3).fill(rejected)]);
  });

  it('leads whoever goes Back to the request, which says what was answered and can be rejected again', async () => {
    const page = await reachReject();
    const { pathname, search } = new URL(
      (await browser.post('/reject', { request: formWith(page, 'decision').fields.request ?? '' }))
        .location ?? '',
    );
    await decide(browser, page, 'reject');
    const back = await browser.get(pathname + search);
    expect([back.status, new URL(back.location ?? '').pathname]).toEqual([303, '/oauth/authorize']);
    const asked = await browser.get(back.location ?? '');
    expect(asked.page).toBe('payment-password');
    expect(asked.text).toContain('You have just rejected this request');
    expect((await pressReject(asked)).page).toBe('reject');
  });

  it('can be undone by going back to the request', async () => {
    const page = await reachReject();
    const href = cheerio.load(page.body)('.answer a').attr('href') ?? '';
    expect((await browser.get(href)).page).toBe('payment-password');
  });
});

describe('a form that rejects and does not fit any more', () => {
  it('decides nothing in the session of somebody else', async () => {
    const page = await reachReject();
    const elsewhere = await signedIn(server, await server.createUser());
    const before = await contentsOf(server);
    const { action, fields } = formWith(page, 'decision');
    const answer = await elsewhere.post(action, { ...fields, decision: 'reject' });
    expect([answer.status, answer.location?.includes('/oauth/authorize?')]).toEqual([303, true]);
    expect(await contentsOf(server)).toEqual(before);
  });

  it('is not shown where there is nothing to type: to nobody, to who has no payment password, and where nothing is spent', async () => {
    const nobody = new Agent(server.baseUrl);
    const query = new URL(linkOf(), server.baseUrl).search;
    expect((await nobody.get(`/reject${query}`)).location).toContain('/oauth/authorize?');
    const reading = new URLSearchParams(requestOf(client)).toString();
    expect((await browser.get(`/reject?${reading}`)).location).toContain('/oauth/authorize?');
    await reachConsent(browser, spending(), user);
    expect((await browser.get(`/reject${query}`)).location).toContain('/oauth/authorize?');
  });
});
