import * as cheerio from 'cheerio';
import { beforeEach, describe, expect, it } from 'vitest';
import { logOf } from '../../attacks/refusals.ts';
import { copyOf, fieldsFor, signedIn } from '../../support/account.ts';
import {
  codeOf,
  confirm,
  leadsTo,
  press,
  reachConsent,
  requestOf,
  returnFrom,
  tokenRequestOf,
} from '../../support/flow.ts';
import type { Agent, Answer } from '../../support/http/agent.ts';
import { rowsOf } from '../../support/postgres/rows.ts';
import { type TestClient, type TestUser, useServer } from '../../support/server.ts';

// Between Allow and the application: the page of the payment password, the receipt, and the way back.

const server = await useServer();
const SPENDING = 'account-info payment-shop.limit(7,1500)';
const STALE = 'That page was out of date, so your answer was not accepted';

let client: TestClient;
let user: TestUser;
let browser: Agent;
beforeEach(async () => {
  client = await server.createClient({ name: 'Corner Shop', userLimits: true });
  user = await server.createUser();
  browser = await signedIn(server, user);
});

const consentFor = (fields = {}) =>
  reachConsent(browser, requestOf(client, { scope: SPENDING, state: 's\n t', ...fields }), user);

/** Presses Allow, for a lower sum. @returns the address of the page that asks for the payment password */
async function allow(consent?: Answer): Promise<string> {
  const typed = { decision: 'allow', limit_1: '900' };
  return (await browser.submit(consent ?? (await consentFor()), 'decision', typed)).location ?? '';
}

const confirmed = async (address: string) =>
  confirm(browser, await browser.get(address), user.paymentPassword);
const next = (answer: Answer, by = browser) => by.get(answer.location ?? '');
const hrefOf = ({ body }: Answer, selector: string) => cheerio.load(body)(selector).attr('href');
const onwardOf = ({ headers }: Answer) => /^0; url=(.+)$/.exec(headers.get('refresh') ?? '')?.[1];

async function approvals(): Promise<unknown[]> {
  const { rows } = await server.database.pool.query(
    `select kind, scope, detail - 'session' as detail from audit_events where client_id = $1 and user_id = $2`,
    [client.clientId, user.userId],
  );
  return rows;
}

describe('the page of the payment password', () => {
  it('submits its form only to this server, supports password managers, and links back to the request', async () => {
    const page = await browser.get(await allow());
    expect([page.status, page.page]).toEqual([200, 'confirm']);
    const policy = page.headers.get('content-security-policy');
    expect(policy).toMatch(/script-src http\S+\/form-\w+\.js; form-action 'self'/);
    expect(page.body).toMatch(/<script type="module" src="\/form-\w+\.js">/);
    const back = await browser.get(hrefOf(page, 'main a.button') ?? '');
    expect(fieldsFor(back, '/consent').request).toBe(fieldsFor(page, '/confirm').request);
  });

  it('is shown again on reload and in another language at the same address, without a write', async () => {
    const before = await rowsOf(server.database);
    const address = await allow();
    const page = await browser.get(address);
    expect(fieldsFor(await browser.get(address), '/confirm')).toEqual(fieldsFor(page, '/confirm'));
    const chosen = await browser.submit(page, 'language', { language: 'ru' });
    const russian = await next(chosen);
    expect([chosen.location, russian.page]).toEqual([address, 'confirm']);
    expect(russian.headers.get('content-language')).toBe('ru');
    expect(await rowsOf(server.database)).toBe(before);
  });

  it('is shown again after a wrong password, with an error at its own address only', async () => {
    const address = await allow();
    const answer = await confirm(browser, await browser.get(address), 'wrong');
    expect([answer.status, answer.location]).toEqual([303, address]);
    for (let times = 0; times < 2; times += 1)
      expect((await browser.get(address)).text).toContain('The payment password is wrong.');
    for (const other of [await consentFor(), await browser.get(await allow())])
      expect(other.body).not.toContain('id="error"');
    expect(await approvals()).toEqual([]);
    expect(leadsTo(await confirmed(address), '/receipt')).toBe(true);
  });

  it('makes one decision when it is sent twice, at once or later', async () => {
    const page = await browser.get(await allow());
    const send = () => confirm(browser, page, user.paymentPassword);
    const codes = [];
    for (const answer of [...(await Promise.all([send(), send()])), await send()])
      codes.push(codeOf(await returnFrom(browser, answer)));
    expect(new Set(codes).size).toBe(1);
    const detail = { asked_scope: SPENDING, confirmed_by: 'payment_password' };
    const scope = 'account-info payment-shop.limit(7,900)';
    expect(await approvals()).toEqual([{ kind: 'approved', scope, detail }]);
  });

  it('yields to the request after Back from the application, which shows the approval', async () => {
    const address = await allow();
    await returnFrom(browser, await confirmed(address));
    const back = await browser.get(address);
    expect(leadsTo(back, '/oauth/authorize')).toBe(true);
    expect((await next(back)).text).toContain('You have just allowed this request');
  });
});

describe('a decision in a URL', () => {
  const decisionIn = (address: string) => new URL(address).searchParams.get('decision') ?? '';

  /** Expects that a decision leads to the request from everywhere, and that nothing comes of it. */
  async function expectNothing(by: Agent, address: string, decision = decisionIn(address)): Promise<Answer> {
    const before = await rowsOf(server.database);
    const request = new URL(address).search.slice(1).replace(/&decision=.*/, '');
    const typed = { request, decision, payment_password: user.paymentPassword ?? '' };
    const answers = [await by.post('/confirm', typed)];
    for (const path of ['/confirm', '/receipt', '/return'])
      answers.push(await by.get(`${path}?${request}&decision=${decision}`));
    for (const { location } of answers) expect(location).toBe(`${server.baseUrl}/oauth/authorize?${request}`);
    expect(await rowsOf(server.database)).toBe(before);
    return next(answers[0] as Answer, by);
  }

  /** The payload of a token with something else in it, under the old signature. */
  const altered = (token: string, from: string, to: string) =>
    Buffer.from(Buffer.from(token, 'base64url').toString('latin1').replace(from, to), 'latin1');

  /** A sum as a decision has it: in hundredths, and base 36. */
  const packed = (sum: number) => `"${(sum * 100).toString(36)}"`;

  it('with a higher sum redirects to the request and grants nothing', async () => {
    const address = await allow();
    const made = altered(decisionIn(address), packed(900), packed(901)).toString('base64url');
    expect(made).not.toBe(decisionIn(address));
    expect((await expectNothing(browser, address, made)).text).toContain(STALE);
  });

  it('grants nothing in another session, to another user or without a user, before and after confirmation', async () => {
    const address = await allow();
    const page = await browser.get(address);
    const others = [await signedIn(server, user), await signedIn(server, await server.createUser())];
    for (let times = 0; times < 2; times += 1) {
      for (const other of others) expect((await expectNothing(other, address)).text).toContain(STALE);
      await confirm(browser, page, user.paymentPassword);
    }
    browser.cookies.delete('assent_session');
    expect((await expectNothing(browser, address)).page).toBe('sign-in');
  });

  it('has no receipt before confirmation', async () => {
    const { search } = new URL(await allow());
    for (const path of ['/receipt', '/return'])
      expect(leadsTo(await browser.get(path + search), '/oauth/authorize')).toBe(true);
  });
});

describe('the receipt', () => {
  it('shows what was allowed and leads to the application by itself, also after a reload', async () => {
    const address = (await confirmed(await allow())).location ?? '';
    const page = await browser.get(address);
    expect([page.status, page.page]).toEqual([200, 'receipt']);
    expect(page.text).toMatch(
      /Corner Shop can pay any shop up to RUB 900 in any 7 days, until \d+ \w+ \d{4} and see/,
    );
    expect([hrefOf(page, 'main a.button'), hrefOf(page, 'main a.link')]).toEqual([
      onwardOf(page),
      '/account',
    ]);
    const answer = await browser.get(onwardOf(page) ?? '');
    const code = codeOf(answer);
    expect([answer.status, answer.location]).toEqual([
      302,
      `${client.redirectUri}?state=s%0A%20t&code=${code}`,
    ]);
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(codeOf(await browser.get(onwardOf(await browser.get(address)) ?? ''))).toBe(code);
    expect((await browser.submit(page, 'language', { language: 'ru' })).location).toBe(address);
  });

  /** Expects that an address leads to the request, which says that it was allowed, also where no cookie does. */
  async function expectOver(address: string): Promise<void> {
    const forgetful = copyOf(browser);
    forgetful.cookies.delete('assent_outcome');
    for (const [by, said] of [
      [browser, 'You have just allowed this request'],
      [forgetful, 'You already allowed this'],
    ] as const) {
      const answer = await by.get(address);
      expect(leadsTo(answer, '/oauth/authorize')).toBe(true);
      expect((await next(answer, by)).text).toContain(said);
    }
  }

  it('is not shown for another decision of the same page, whose sums were not allowed', async () => {
    const consent = await consentFor();
    const lower = await allow(consent);
    const typed = { decision: 'allow', limit_1: '1500' };
    const asked = (await browser.submit(consent, 'decision', typed)).location ?? '';
    expect(leadsTo(await confirmed(lower), '/receipt')).toBe(true);
    for (const path of ['/receipt?', '/return?'])
      expect(leadsTo(await browser.get(asked.replace('/confirm?', path)), '/oauth/authorize')).toBe(true);
  });

  it('leads nowhere once its code was exchanged', async () => {
    const address = (await confirmed(await allow())).location ?? '';
    const onward = onwardOf(await browser.get(address)) ?? '';
    const code = codeOf(await browser.get(onward));
    await browser.post('/oauth/token', tokenRequestOf(client, code));
    const page = await browser.get(address);
    expect([page.status, page.page]).toEqual([200, 'receipt']);
    expect([onwardOf(page), hrefOf(page, 'main a.button')]).toEqual([undefined, undefined]);
    await expectOver(onward);
  });

  it.each([
    ['allow', 'Allowed', /^com\.example\.shop:\/done\?code=assent_ac_[\w-]+$/],
    ['reject', 'Rejected', /^com\.example\.shop:\/done\?error=access_denied$/],
  ] as const)(
    'is shown after %s without a password if the application has a custom scheme',
    async (decision, title, location) => {
      client = await server.createClient({ redirectUri: 'com.example.shop:/done' });
      const pressed = await press(browser, await reachConsent(browser, requestOf(client), user), decision);
      expect(leadsTo(pressed, '/receipt')).toBe(true);
      const page = await next(pressed);
      expect(cheerio.load(page.body)('h1').text()).toBe(title);
      const answer = await browser.get(onwardOf(page) ?? '');
      expect([answer.status, answer.location]).toEqual([302, expect.stringMatching(location)]);
    },
  );
});

it('logs the application and the outcome of each decision and each successful exchange', async () => {
  const rejected = await press(browser, await consentFor(), 'reject');
  const address = await allow();
  const wrong = await confirm(browser, await browser.get(address), 'wrong');
  const approved = await confirmed(address);
  const code = codeOf(await returnFrom(browser, approved));
  const exchange = () => browser.post('/oauth/token', tokenRequestOf(client, code));
  for (const [answer, outcome] of [
    [rejected, 'rejected'],
    [approved, 'approved'],
    [await exchange(), 'issued'],
  ] as const)
    expect(await logOf(server, answer)).toMatchObject({ client_id: client.clientId, outcome });
  // The client id of a refused one can be any text, such as a secret at the wrong place.
  for (const refused of [wrong, await exchange()]) {
    const line = await logOf(server, refused);
    expect([line.rule_id, line.client_id, line.outcome]).toEqual([expect.any(String), undefined, undefined]);
  }
});

it('puts the code in no page, no URL of Assent and no log line', async () => {
  const consent = await consentFor();
  const address = await allow(consent);
  const page = await browser.get(address);
  const answer = await confirm(browser, page, user.paymentPassword);
  const receipt = await next(answer);
  const onward = onwardOf(receipt) ?? '';
  const code = codeOf(await browser.get(onward));
  await browser.post('/oauth/token', tokenRequestOf(client, code));
  const seen = [consent, page, answer, receipt];
  for (const path of [address, answer.location ?? '', onward, '/account', '/account/history'])
    seen.push(await browser.get(path));
  const told = seen.map(({ body, headers }) => body + JSON.stringify([...headers]));
  expect([address, ...told, ...server.logLines].filter((text) => text.includes(code))).toEqual([]);
});
