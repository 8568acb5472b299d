import * as cheerio from 'cheerio';
import { beforeEach, describe, expect, it } from 'vitest';
import { logOf } from '../../attacks/refusals.ts';
import { actorsAt, copyOf, fieldsFor, follow, signedIn } from '../../support/account.ts';
import {
  codeOf,
  confirm,
  leadsTo,
  linkTo,
  press,
  reachConsent,
  requestOf,
  returnFrom,
  signIn,
} from '../../support/flow.ts';
import type { Answer } from '../../support/http/agent.ts';
import { exchange } from '../../support/http/tokenRequests.ts';
import { newSecret } from '../../support/ledger.ts';
import { rowsOf } from '../../support/postgres/rows.ts';
import { useServer } from '../../support/server.ts';

const server = await useServer();
const SPENDING = 'account-info payment-shop.limit(7,1500)';
let { client, user, agent: browser } = await actorsAt(server, { name: 'Corner Shop', userLimits: true });

beforeEach(async () => {
  ({ client, user, agent: browser } = await actorsAt(server, { name: 'Corner Shop', userLimits: true }));
  await signIn(browser, user.login, user.password);
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
const hrefOf = ({ body }: Answer, selector: string) => cheerio.load(body)(selector).attr('href');
const onwardOf = ({ headers }: Answer) => /^0; url=(.+)$/.exec(headers.get('refresh') ?? '')?.[1];

it('the payment password page links back to the request, can be reloaded and translated, and writes nothing', async () => {
  const before = await rowsOf(server.database);
  const address = await allow();
  const page = await browser.get(address);
  expect(page.text).toMatch(/up to RUB 900 in any 7 days/);
  const fields = fieldsFor(page, '/oauth/confirm');
  expect(fieldsFor(await browser.get(address), '/oauth/confirm')).toEqual(fields);
  const chosen = await browser.submit(page, 'language', { language: 'ru' });
  const russian = await follow(browser, chosen);
  expect([chosen.location, russian.page]).toEqual([address, 'confirm']);
  expect(russian.headers.get('content-language')).toBe('ru');
  const back = await browser.get(hrefOf(page, 'main a.button') ?? '');
  expect(fieldsFor(back, '/oauth/consent').request).toBe(fields.request);
  expect(await rowsOf(server.database)).toBe(before);
});

describe('the receipt page after Allow or Reject', () => {
  it('shows the allowed rights and redirects to the application by itself, also after a reload', async () => {
    const address = (await confirmed(await allow())).location ?? '';
    const page = await browser.get(address);
    expect([page.status, page.page]).toEqual([200, 'receipt']);
    expect(page.text).toMatch(
      /Corner Shop can pay any shop up to RUB 900 in any 7 days, until \d+ \w+ \d{4} and see/,
    );
    expect(hrefOf(page, 'main a.button')).toBe(onwardOf(page));
    expect(hrefOf(page, 'main a.link')).toBe('/oauth/account');
    const answer = await browser.get(onwardOf(page) ?? '');
    const code = codeOf(answer);
    expect(answer.status).toBe(302);
    expect(answer.location).toBe(`${client.redirectUri}?state=s%0A%20t&code=${code}`);
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(codeOf(await browser.get(onwardOf(await browser.get(address)) ?? ''))).toBe(code);
    expect((await browser.submit(page, 'language', { language: 'ru' })).location).toBe(address);
  });

  it('has no link or redirect to the application once its code was exchanged', async () => {
    const address = (await confirmed(await allow())).location ?? '';
    const onward = onwardOf(await browser.get(address)) ?? '';
    const code = codeOf(await browser.get(onward));
    await exchange(server, client, code);
    const page = await browser.get(address);
    expect([page.status, page.page]).toEqual([200, 'receipt']);
    expect([onwardOf(page), hrefOf(page, 'main a.button')]).toEqual([undefined, undefined]);
    const forgetful = copyOf(browser);
    forgetful.cookies.delete('assent_outcome');
    for (const [by, said] of [
      [browser, 'You have just allowed this request'],
      [forgetful, 'You already allowed this'],
    ] as const)
      expect((await follow(by, await by.get(onward))).text).toContain(said);
  });

  it.each([
    ['allow', 'Allowed', /^com\.example\.shop:\/done\?code=assent_ac_[\w-]+$/],
    ['reject', 'Rejected', /^com\.example\.shop:\/done\?error=access_denied$/],
  ] as const)(
    'is shown after “%s” without a payment password if the redirect_uri has a custom scheme',
    async (decision, title, location) => {
      client = await server.createClient({ redirectUri: 'com.example.shop:/done' });
      const pressed = await press(browser, await reachConsent(browser, requestOf(client), user), decision);
      expect(leadsTo(pressed, '/oauth/receipt')).toBe(true);
      const page = await follow(browser, pressed);
      expect(cheerio.load(page.body)('h1').text()).toBe(title);
      const answer = await browser.get(onwardOf(page) ?? '');
      expect([answer.status, answer.location]).toEqual([302, expect.stringMatching(location)]);
    },
  );
});

it('the log has the application and the outcome of each decision and successful exchange', async () => {
  const rejected = await press(browser, await consentFor(), 'reject');
  const address = await allow();
  const wrong = await confirm(browser, await browser.get(address), 'wrong');
  const approved = await confirmed(address);
  const code = codeOf(await returnFrom(browser, approved));
  for (const [answer, outcome] of [
    [rejected, 'rejected'],
    [approved, 'approved'],
    [await exchange(server, client, code), 'issued'],
  ] as const)
    expect(await logOf(server, answer)).toMatchObject({ client_id: client.clientId, outcome });
  // The client_id of a refused request can be any text, such as a misplaced secret.
  for (const refused of [wrong, await exchange(server, client, code)]) {
    const line = await logOf(server, refused);
    const known = refused === wrong ? undefined : client.clientId;
    expect([line.rule_id, line.client_id, line.outcome]).toEqual([expect.any(String), known, undefined]);
  }
});

it('the code appears in no page, no URL of Assent and no log line', async () => {
  const consent = await consentFor();
  const address = await allow(consent);
  const page = await browser.get(address);
  const answer = await confirm(browser, page, user.paymentPassword);
  const receipt = await follow(browser, answer);
  const onward = onwardOf(receipt) ?? '';
  const code = codeOf(await browser.get(onward));
  await exchange(server, client, code);
  const seen = [consent, page, answer, receipt];
  for (const path of [address, answer.location ?? '', onward, '/oauth/account', '/oauth/account/history'])
    seen.push(await browser.get(path));
  const told = seen.map(({ body, headers }) => body + JSON.stringify([...headers]));
  expect([address, ...told].filter((text) => text.includes(code))).toEqual([]); // the log is searched at the end
});

it('PAYMENT_PASSWORD=required: payments need a payment password, as their page says, with a link to setting one', async () => {
  const strict = await useServer({ requiresPaymentPassword: true });
  const user = await strict.createUser({ paymentPassword: null });
  const agent = await signedIn(strict, user);
  const asked = linkTo(requestOf(await strict.createClient(), { scope: SPENDING }));
  const consent = await agent.get(asked);
  const needed = 'You can allow this only with a payment password, and you have none yet.';
  expect([consent.page, consent.text.includes('Allow…')]).toEqual(['consent', true]);
  expect(consent.text).toContain(`${needed} Set a payment password`);
  expect((await agent.get('/oauth/account/security')).text).not.toContain('pressing “Allow” is enough');
  const before = await rowsOf(strict.database);
  const pressed = await press(agent, consent, 'allow');
  expect((await follow(agent, await follow(agent, pressed))).page).toBe('consent');
  expect(await rowsOf(strict.database)).toEqual(before);

  const set = hrefOf(consent, '.note a') ?? '';
  const paymentPassword = newSecret();
  const typed = { password: user.password, new_password: paymentPassword };
  expect((await agent.submit(await agent.get(set), 'new_password', typed)).status).toBe(303);
  const again = await follow(agent, await press(agent, consent, 'allow'));
  const page = await follow(agent, pressed);
  expect([again.page, page.page]).toEqual(['confirm', 'confirm']);
  const receipt = await confirm(agent, page, paymentPassword);
  expect(codeOf(await returnFrom(agent, receipt))).toMatch(/^assent_ac_/);
});
