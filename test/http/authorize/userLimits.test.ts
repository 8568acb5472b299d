import * as cheerio from 'cheerio';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseCatalogue } from '../../../src/languages/catalogue.ts';
import { actorsAt, copyOf, follow } from '../../support/account.ts';
import { codeOf, confirm, introspect, reachConsent, requestOf, returnFrom } from '../../support/flow.ts';
import type { Answer } from '../../support/http/agent.ts';
import { documentOf, exchange as exchangeAt, expectToken } from '../../support/http/tokenRequests.ts';
import { rowsOf } from '../../support/postgres/rows.ts';
import { useServer } from '../../support/server.ts';

const server = await useServer();
const { pool } = server.database;
const replica = await useServer({ database: server.database });
const resource = await server.createResource();

const SCOPE = 'account-info payment-shop.limit(30, 45000) payment-p2p';
const LOWERED = 'account-info payment-shop.limit(30,5000.50) payment-p2p';
const LOWER = { limit_1: '5 000,50', limit_2: '3000' };

let { client, user, agent } = await actorsAt(server, { userLimits: true }, { paymentPassword: null });

beforeEach(async () => {
  ({ client, user, agent } = await actorsAt(server, { userLimits: true }, { paymentPassword: null }));
});

const consentFor = (scope = SCOPE, state = 'state') =>
  reachConsent(agent, requestOf(client, { scope, state }), user);

type Typed = Record<string, string>;
const allow = (page: Answer, typed: Typed, by = agent) =>
  by.submit(page, 'decision', { decision: 'allow', ...typed });

function fieldsOf({ body }: Answer): Record<string, [value: string, problem: string | null]> {
  const $ = cheerio.load(body);
  const fields = $('input[name^=limit_]:not([type=hidden])')
    .toArray()
    .map((field) => {
      const problem = $(field).attr('aria-describedby');
      expect($(field).closest('form').find('[name=decision_token]')).toHaveLength(1);
      expect(problem !== undefined).toBe($(field).attr('aria-invalid') === 'true');
      const said = problem ? $(`#${problem}`).text().replaceAll(/\s+/g, ' ').trim() : null;
      return [$(field).attr('name'), [$(field).attr('value'), said]] as const;
    });
  return Object.fromEntries(fields);
}

async function exchange(code: string): Promise<Record<string, unknown>> {
  const answer = await exchangeAt(server, client, code);
  expectToken(answer);
  return documentOf(answer);
}

async function events(): Promise<unknown[]> {
  const { rows } = await pool.query(
    `select kind, scope, limits, detail from audit_events where client_id = $1 and user_id = $2 order by at`,
    [client.clientId, user.userId],
  );
  return rows;
}

const scopeOf = async () => {
  const { rows } = await pool.query('select scope from grants where client_id = $1', [client.clientId]);
  return rows.map(({ scope }) => scope);
};

describe('a limit that the user lowers', () => {
  it('is shown in the token response, introspection, the audit trail and on the account page [userLimits-1]', async () => {
    const answer = await exchange(codeOf(await allow(await consentFor(), LOWER)));
    expect(answer.scope).toBe(LOWERED);
    const told = await introspect(server, resource, String(answer.access_token));
    expect(told).toMatchObject({ active: true, scope: LOWERED });
    expect(JSON.stringify(told)).toContain('5000.50');
    expect(JSON.stringify(told)).not.toContain('45000');
    const account = await agent.get('/oauth/account');
    expect(account.text).toContain('At most RUB 5,000.50 in any 30 days');
    expect(account.text).not.toContain('45,000');
    const limits = [
      { right: 'payment-shop', period_days: 30, amount: '5000.50', currency: 'RUB' },
      { right: 'payment-p2p', period_days: 1, amount: '3000', currency: 'RUB' },
    ];
    expect(await events()).toEqual([
      { kind: 'approved', scope: LOWERED, limits, detail: { asked_scope: SCOPE } },
      { kind: 'exchanged', scope: LOWERED, limits: null, detail: null },
    ]);
  });

  it('can be raised again: the scope is then exactly as requested, and the response has no scope', async () => {
    await exchange(codeOf(await allow(await consentFor(), LOWER)));
    const page = await consentFor();
    expect(page.text).toMatch(
      /Raised Pay any shop At most RUB 45,000 in any 30 days ?Before: at most RUB 5,000\.50 in any 30 days/,
    );
    expect(fieldsOf(page)).toEqual({ limit_1: ['45000', null], limit_2: ['3000', null] });
    const answer = await exchange(codeOf(await allow(page, { limit_1: '45 000,00', limit_2: '3000.0' })));
    expect(Object.keys(answer)).toEqual(['access_token', 'token_type', 'expires_in', 'grant_id']);
    expect(await scopeOf()).toEqual([SCOPE]);
    expect(await events()).toMatchObject([
      {},
      {},
      { scope: SCOPE, detail: { replaces: expect.stringContaining('limit(30,5000.50)') } },
      { scope: SCOPE },
    ]);
  });
});

it('the address of a decision stays short enough for proxies with the most rights, each with another sum', async () => {
  const own = { p: { text: 'Pay {target}', names: 'account', spends: true } };
  const offer = { catalogue: parseCatalogue(JSON.stringify(own)) };
  const rich = await useServer({ database: server.database, offer });
  const payer = await server.createUser();
  const browser = copyOf(agent, rich.baseUrl);
  const letters = [...'abcdefghjkmnpqrstuvwx'];
  const targets = letters.flatMap((one) => letters.map((other) => `p("${one}${other}")`)).slice(0, 390);
  const scope = targets.join(' ');
  const page = await reachConsent(browser, requestOf(client, { scope }), payer);
  const sumOf = (index: number) => ((index * 7919) % 299_999) / 100 + 0.01;
  const typed = Array.from({ length: 390 }, (_, index) => [`limit_${index}`, sumOf(index).toFixed(2)]);
  const pressed = await allow(page, Object.fromEntries(typed), browser);
  expect(pressed.location?.length).toBeLessThan(8_000);
  const confirmed = await confirm(browser, await follow(browser, pressed), payer.paymentPassword);
  expect(confirmed.location?.length).toBeLessThan(8_000);
  codeOf(await returnFrom(browser, confirmed));
  const { rows } = await pool.query('select scope from grants where user_id = $1', [payer.userId]);
  expect(rows[0].scope).toContain(`p("aa","account").limit(1,${sumOf(0).toFixed(2)})`);
});

it.each([
  [{ limit_1: '45000.01', limit_2: '3000' }, 'limit_1', 'The most you can allow here is RUB 45,000.'],
  [{ limit_1: '1', limit_2: '3,000' }, 'limit_2', /^Use at most two digits after the decimal point\./],
  [{ limit_1: '"><b>', limit_2: '1' }, 'limit_1', 'Enter an amount in digits, such as 2500 or 2500.50.'],
  [{ limit_1: '1', limit_2: '0,00' }, 'limit_2', /^The amount must be more than zero\./],
])('an invalid sum decides nothing, and is shown again as typed: %j', async (typed, wrong, problem) => {
  const page = await consentFor();
  const before = await rowsOf(server.database);
  const again = await follow(agent, await allow(page, typed));
  expect([again.status, again.page]).toEqual([200, 'consent']);
  expect(await rowsOf(server.database)).toBe(before);
  const shown = Object.entries(typed).map(([name, text]) => [
    name,
    [text, name === wrong ? expect.stringMatching(problem) : null],
  ]);
  expect(fieldsOf(again)).toEqual(Object.fromEntries(shown));
  expect(again.text).toContain('Your answer was not accepted');
  expect(server.logLines.join('')).toContain('wrong_limits');
  const { scope } = await exchange(codeOf(await allow(again, LOWER)));
  expect(scope).toBe(LOWERED);
});

describe('a form', () => {
  it('is refused if it lacks a limit field of its page', async () => {
    const page = await consentFor();
    for (const typed of [{}, { limit_1: '1' }, { limit_2: '1' }, { limit_0: '1', limit_1: '1' }]) {
      expect((await allow(page, typed)).status).toBe(303);
    }
    expect(await scopeOf()).toEqual([]);
  });

  it.each([
    ['a one-time payment', true, 'payment-shop.limit(,5000)'],
    ['rights without payments', true, 'account-info'],
    ['an application whose users may not lower limits', false, 'payment-shop.limit(7,5000)'],
  ])('for %s has no limit field, and ignores one that is sent', async (_what, userLimits, scope) => {
    client = await server.createClient({ userLimits });
    const page = await consentFor(scope);
    expect(fieldsOf(page)).toEqual({});
    expect(page.text).not.toContain('you can lower it');
    const answer = await exchange(codeOf(await allow(page, { limit_0: '1' })));
    expect(answer).not.toHaveProperty('scope');
    expect(await scopeOf()).toEqual([scope]);
  });
});

describe('a consent form that is sent again', () => {
  it('returns the same code for the same sums in any notation; with other sums, the page is shown', async () => {
    const page = await consentFor();
    const code = codeOf(await allow(page, LOWER));
    for (const same of [LOWER, { limit_1: '5000.5', limit_2: '3 000' }])
      expect(codeOf(await allow(page, same))).toBe(code);
    const other = await allow(page, { limit_1: '45000', limit_2: '3000' });
    expect([other.status, other.location]).toEqual([303, expect.stringContaining('/oauth/authorize?')]);
    expect(await events()).toHaveLength(1);
    expect((await exchange(code)).scope).toBe(LOWERED);
    expect((await allow(page, { limit_1: '5000.50', limit_2: '2999' })).status).toBe(303);
    expect(await scopeOf()).toEqual([LOWERED]);
    expect((await consentFor()).text).toContain('Before: at most RUB 5,000.50');
  });

  it('records one rejection, whatever its fields contain', async () => {
    const page = await consentFor();
    for (const typed of [{ limit_1: 'none', limit_2: '' }, LOWER, { limit_1: '1', limit_2: '1' }])
      expect((await allow(page, { ...typed, decision: 'reject' })).location).toContain('error=access_denied');
    expect(await events()).toMatchObject([{ kind: 'rejected', scope: SCOPE, detail: null }]);
  });

  it('returns one code when sent with different sums at once, on two replicas', async () => {
    const page = await consentFor();
    const elsewhere = copyOf(agent, replica.baseUrl);
    const presses = Array.from({ length: 12 }, (_, index) =>
      allow(page, { limit_1: String(100 + index), limit_2: '3000' }, index % 2 === 0 ? agent : elsewhere),
    );
    const answers = await Promise.all(presses);
    const taken = answers.filter(({ status }) => status === 302);
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(11);
    expect(taken).toHaveLength(1);
    const sum = 100 + answers.findIndex(({ status }) => status === 302);
    const granted = `account-info payment-shop.limit(30,${sum}) payment-p2p`;
    expect((await exchange(codeOf(taken[0] as Answer))).scope).toBe(granted);
    expect(await events()).toHaveLength(2);
  });
});
