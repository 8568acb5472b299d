import * as cheerio from 'cheerio';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadAuthorizationRequest } from '../../../src/flows/authorize/authorize.ts';
import { decide } from '../../../src/flows/authorize/decide.ts';
import { createDecisionToken } from '../../../src/flows/authorize/decisionForms.ts';
import { decisionPath } from '../../../src/http/browser/redirects.ts';
import { parseCatalogue } from '../../../src/languages/catalogue.ts';
import { dayOf, monthsAfter } from '../../../src/rules/common/lifetimes.ts';
import { Parameters } from '../../../src/rules/request/parameters.ts';
import { FURTHER_LIMITS } from '../../../src/rules/request/scopeRules.ts';
import { actorsAt, copyOf, follow, receiptsIn, sessionOf } from '../../support/account.ts';
import {
  codeOf,
  confirm,
  introspect,
  linkTo,
  obtainToken,
  reachConsent,
  requestOf,
  returnFrom,
} from '../../support/flow.ts';
import type { Answer } from '../../support/http/agent.ts';
import { documentOf, exchange as exchangeAt } from '../../support/http/tokenRequests.ts';
import { rowsOf } from '../../support/postgres/rows.ts';
import { CALLER, useServer } from '../../support/server.ts';

// The largest payment and the last day of a right, where LIMITS has them.

const server = await useServer({ furtherLimits: FURTHER_LIMITS });
const { pool } = server.database;
const without = await useServer({ database: server.database });
const resource = await server.createResource();

const [TODAY, MONTH, YEAR] = [0, 1, 12].map((months) => dayOf(monthsAfter(new Date(), months))) as [
  string,
  string,
  string,
];
const LATE = dayOf(monthsAfter(new Date(), 24));
const yesterday = dayOf(new Date(Date.now() - 24 * 3_600_000));
const format = (day: string) =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(day));

let { client, user, agent } = await actorsAt(server, { userLimits: true });

beforeEach(async () => {
  ({ client, user, agent } = await actorsAt(server, { userLimits: true }));
});

const consentFor = (scope: string) => reachConsent(agent, requestOf(client, { scope }), user);
const allow = (page: Answer, typed: Record<string, string>) =>
  agent.submit(page, 'decision', { decision: 'allow', ...typed });
const tokenOf = async (code: string) => documentOf(await exchangeAt(server, client, code));

/** The page of the payment password, and what the application gets for the right one. */
async function confirmed(page: Answer, typed: Record<string, string>) {
  const question = await follow(agent, await allow(page, typed));
  const receipt = await follow(agent, await confirm(agent, question, user.paymentPassword));
  return { question, receipt, answer: await tokenOf(codeOf(await agent.get(onwardOf(receipt)))) };
}

const onwardOf = ({ body }: Answer) => cheerio.load(body)('a.button').attr('href') ?? '';
const optionsOf = ({ body }: Answer, name: string) => {
  const $ = cheerio.load(body);
  return $(`select[name=${name}] option`)
    .toArray()
    .map((option) => [$(option).attr('value'), $(option).text().replaceAll('\u00a0', ' ')]);
};
const scopes = async () => (await pool.query('select scope from grants')).rows.map(({ scope }) => scope);
/** As time would: a right of every grant has ended. */
const endRights = (until: string) =>
  pool.query('update grants set scope = replace(scope, $1, $2) where client_id = $3', [
    `.until(${until})`,
    `.until(${yesterday})`,
    client.clientId,
  ]);

describe('what the user chooses', () => {
  const CHOSEN = { limit_1: '2000', each_1: '500', until_1: MONTH };
  const SCOPE = 'account-info payment-shop.limit(7,5000)';
  const GRANTED = `account-info payment-shop.limit(7,2000).each(500).until(${MONTH})`;

  it('is on the confirmation, the receipt and the account page, in the trail and in what programs get', async () => {
    const page = await consentFor(SCOPE);
    expect(optionsOf(page, 'until_1')).toEqual([
      ['', expect.stringMatching(/^\d/)],
      [YEAR, `${format(YEAR)} (in a year)`],
      [MONTH, `${format(MONTH)} (in a month)`],
    ]);
    const { question, receipt, answer } = await confirmed(page, CHOSEN);
    for (const { page, text } of [question, receipt]) {
      expect(['confirm', 'receipt']).toContain(page);
      expect(text.replaceAll('\u00a0', ' ')).toContain(
        `up to RUB 2,000 in any 7 days, until ${format(MONTH)} At most RUB 500 in one payment.`,
      );
    }
    expect(answer.scope).toBe(GRANTED);
    const right = { right: 'payment-shop', period_days: 7, amount: '2000', currency: 'RUB' };
    const limits = [{ ...right, largest: '500', until: MONTH }];
    expect(await introspect(server, resource, String(answer.access_token))).toMatchObject({
      scope: GRANTED,
      rights: [{ right: 'account-info' }, ...limits],
      payment_limits: limits,
    });
    const { rows } = await pool.query(
      `select limits, detail from audit_events where kind = 'approved' and client_id = $1`,
      [client.clientId],
    );
    expect(rows).toEqual([{ limits, detail: expect.objectContaining({ asked_scope: SCOPE }) }]);
    const said = `RUB 2,000 in any 7 days, RUB 500 in one payment, until ${format(MONTH)}`;
    expect((await agent.get('/oauth/account')).text.replaceAll('\u00a0', ' ')).toContain(said);
    const [kept = ''] = await receiptsIn(agent);
    expect((await agent.get(kept)).text.replaceAll('\u00a0', ' ')).toContain(
      `up to RUB 2,000 in any 7 days, until ${format(MONTH)} At most RUB 500 in one payment.`,
    );
    const again = (await consentFor(SCOPE)).text.replaceAll('\u00a0', ' ');
    expect(again).toContain('Raised It can pay any shop');
    expect(again).toContain(`Before: at most ${said}`);
  });

  it('may be all that was asked: the scope is then as it was sent', async () => {
    const page = await consentFor(`payment-shop.limit(7, 5000).each(500).until(${LATE})`);
    const { answer } = await confirmed(page, { limit_0: '5000', each_0: '500', until_0: '' });
    expect(answer).not.toHaveProperty('scope');
    expect(await scopes()).toContain(`payment-shop.limit(7, 5000).each(500).until(${LATE})`);
  });

  it('is never more than was asked', async () => {
    const page = await consentFor(`payment-shop.limit(7,5000).each(500).until(${LATE})`);
    const before = await rowsOf(server.database);
    const again = await follow(agent, await allow(page, { limit_0: '5000', each_0: '501', until_0: YEAR }));
    expect(again.text).toContain('The most you can allow here is RUB 500.');
    const $ = cheerio.load(again.body);
    expect($('#each_0').attr('value')).toBe('501');
    expect($('#each_0').attr('aria-invalid')).toBe('true');
    expect($('#limit_0').attr('aria-invalid')).toBeUndefined();
    expect($('#until_0 option[selected]').attr('value')).toBe(YEAR);
    for (const until_0 of [
      dayOf(monthsAfter(new Date(), 25)),
      yesterday,
      '2027-02-29',
      'never',
      `${YEAR}T00`,
    ]) {
      const stale = await allow(page, { limit_0: '5000', each_0: '500', until_0 });
      expect([stale.status, stale.location]).toEqual([303, expect.stringContaining('/oauth/authorize?')]);
    }
    for (const lacking of [{ limit_0: '1', each_0: '1' }, { limit_0: '1', until_0: '' }, { each_0: '1' }])
      expect((await allow(page, lacking)).location).toContain('/oauth/authorize?');
    expect(await rowsOf(server.database)).toBe(before);
  });

  it('is one decision, however often it is sent; with another end the page is shown', async () => {
    ({ client, user, agent } = await actorsAt(server, { userLimits: true }, { paymentPassword: null }));
    const page = await consentFor(SCOPE);
    const code = codeOf(await allow(page, CHOSEN));
    expect(codeOf(await allow(page, { ...CHOSEN, each_1: '500,00' }))).toBe(code);
    expect((await allow(page, { ...CHOSEN, until_1: YEAR })).location).toContain('/oauth/authorize?');
    expect(await tokenOf(code)).toMatchObject({ scope: GRANTED });
  });

  it('has fields only for a period, and no choice where the asked end is near', async () => {
    const soon = `payment-shop.limit(7,5000).until(${TODAY})`;
    const near = await consentFor(soon);
    expect(optionsOf(near, 'until_0')).toEqual([]);
    expect((await allow(near, { limit_0: '5000', each_0: '5000', until_0: '' })).location).toContain(
      '/confirm',
    );
    const once = await consentFor(`payment-shop.limit(,300).until(${LATE})`);
    expect(once.body).not.toMatch(/name="(limit|each|until)_/);
    expect(once.text.replaceAll('\u00a0', ' ')).toContain(
      `exactly RUB 300 in one payment, on any day until ${format(LATE)}`,
    );
  });

  it('is no longer valid where LIMITS has changed before it is confirmed', async () => {
    const pressed = await allow(await consentFor(SCOPE), CHOSEN);
    const location = pressed.location?.replace(server.baseUrl, '') ?? '';
    const elsewhere = await copyOf(agent, without.baseUrl).get(location);
    expect([elsewhere.status, elsewhere.location]).toEqual([
      303,
      expect.stringContaining('/oauth/authorize?'),
    ]);
  });
});

it.each([100, 101, 390])(
  'the address of a decision stays short enough for proxies with %i limits, all lowered',
  async (count) => {
    const own = { p: { text: 'Pay {target}', names: 'account', spends: true } };
    const offer = { catalogue: parseCatalogue(JSON.stringify(own)), furtherLimits: FURTHER_LIMITS };
    const rich = await useServer({ database: server.database, offer, furtherLimits: FURTHER_LIMITS });
    const browser = copyOf(agent, rich.baseUrl);
    const letters = [...'abcdefghjkmnpqrstuvwx'];
    const targets = letters.flatMap((one) => letters.map((other) => `p("${one}${other}")`)).slice(0, count);
    const page = await reachConsent(browser, requestOf(client, { scope: targets.join(' ') }), user);
    const sumOf = (index: number) => 1_500 + ((index * 7919) % 149_999) / 100;
    const typed = targets.flatMap((_, index) => [
      [`limit_${index}`, sumOf(index).toFixed(2)],
      [`each_${index}`, (sumOf(index * 31) / 3).toFixed(2)],
      [`until_${index}`, index % 2 === 0 ? MONTH : YEAR],
    ]);
    const offered = typed.filter(([name]) => page.body.includes(`name="${name}"`));
    expect(offered).toHaveLength(count > 100 ? count : 3 * count);
    const pressed = await browser.submit(page, 'decision', {
      decision: 'allow',
      ...Object.fromEntries(offered),
    });
    expect(pressed.location?.length).toBeLessThan(8_000);
    const receipt = await confirm(browser, await follow(browser, pressed), user.paymentPassword);
    codeOf(await returnFrom(browser, receipt));
  },
);

describe('a right that ends', () => {
  const SCOPE = `account-info payment-shop.limit(7,5000).until(${LATE}) money-source("card")`;

  it('is left out of introspection from then on, with the sources of money; the token stays', async () => {
    client = await server.createClient();
    const token = await obtainToken(agent, client, user, { scope: SCOPE });
    expect(await introspect(server, resource, token)).toMatchObject({ money_sources: ['card'] });
    await endRights(LATE);
    expect(await introspect(server, resource, token)).toMatchObject({
      active: true,
      scope: SCOPE.replace(LATE, yesterday),
      rights: [{ right: 'account-info' }, { right: 'money-source', sources: ['card'] }],
      payment_limits: [],
      money_sources: [],
    });
  });

  it('can spend nothing on the account page, and is new when it is asked again', async () => {
    client = await server.createClient();
    await obtainToken(agent, client, user, { scope: SCOPE });
    expect((await agent.get('/oauth/account')).text).toContain('Pay any shop');
    await endRights(LATE);
    const account = await agent.get('/oauth/account');
    expect(account.text).not.toContain('Pay any shop');
    expect(account.text).not.toContain('5,000');
    expect((await consentFor(SCOPE)).text).toContain('New It can pay any shop');
    const beside = requestOf(client, { scope: 'account-info', instance_name: 'other' });
    expect((await reachConsent(agent, beside, user)).text).not.toContain('On top:');
  });

  it('may end between its page and the answer, which then grants nothing of it', async () => {
    client = await server.createClient();
    await consentFor('account-info');
    const asked = requestOf(client, { scope: `account-info payment-shop.limit(7,5000).until(${yesterday})` });
    const { context } = server;
    const parameters = new Parameters(String(new URLSearchParams(asked)));
    const authorizationRequest = await loadAuthorizationRequest(context, parameters);
    const pending = { authorizationRequest, session: await sessionOf(server, agent) };
    const decisionToken = createDecisionToken(context, pending, 0);
    const pressed = await decide(context, pending, { choice: 'allow', decisionToken, typed: [] }, CALLER);
    const decision = 'decision' in pressed ? pressed.decision : '';
    const question = await agent.get(decisionPath('/oauth/confirm', authorizationRequest, decision));
    expect([question.status, question.page]).toEqual([200, 'confirm']);
    expect(question.text).toContain('up to RUB 5,000');
    const receipt = await follow(agent, await confirm(agent, question, user.paymentPassword));
    const { access_token } = await tokenOf(codeOf(await agent.get(onwardOf(receipt))));
    expect(await introspect(server, resource, String(access_token))).toMatchObject({
      active: true,
      rights: [{ right: 'account-info' }],
      payment_limits: [],
      money_sources: [],
    });
  });

  it.each([
    [yesterday, /^scope: payment-shop ended on /, 'ends on a day that is past'],
    ['2999-12-31', /^scope: payment-shop ends on 2999-12-31, and its token on /, 'longer than any access'],
  ])('on %s is refused before its page is shown', async (until, rule, said) => {
    await consentFor('account-info');
    const scope = `payment-shop.limit(7,5000).until(${until})`;
    const refused = await agent.get(linkTo(requestOf(client, { scope })));
    expect([refused.status, refused.page]).toEqual([400, 'error']);
    expect(refused.text).toContain('invalid_scope');
    expect(refused.text).toContain(said);
    const logged = server.logLines.map((line) => JSON.parse(line)).findLast(({ rule_id }) => rule_id);
    expect(logged).toMatchObject({ rule: expect.stringMatching(rule), client_id: client.clientId });
  });
});

it('without LIMITS the request is refused, and the log names the variable', async () => {
  const browser = copyOf(agent, without.baseUrl);
  for (const end of ['.each(500)', `.until(${LATE})`]) {
    const scope = `payment-shop.limit(7,5000)${end}`;
    const refused = await browser.get(linkTo(requestOf(client, { scope })));
    expect([refused.status, refused.text.includes('invalid_scope')]).toEqual([400, true]);
  }
  expect(without.logLines.join('')).toContain('which LIMITS of this service does not name');
  const plain = await reachConsent(browser, requestOf(client, { scope: 'payment-shop' }), user);
  expect(plain.body).not.toMatch(/name="(each|until)_/);
  expect(plain.body).toContain('name="limit_0"');
});

it('what was granted with LIMITS stays readable without', async () => {
  const page = await consentFor('payment-shop.limit(7,5000)');
  const { answer } = await confirmed(page, { limit_0: '5000', each_0: '500', until_0: YEAR });
  const told = await introspect(without, resource, String(answer.access_token));
  expect(told).toMatchObject({ payment_limits: [{ largest: '500', until: YEAR }] });
});
