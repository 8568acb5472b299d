import { beforeEach, describe, expect, it } from 'vitest';
import { parseCatalogue } from '../../../src/languages/catalogue.ts';
import { BANK, SHOP } from '../../rules/ownRightFiles.ts';
import { actorsAt, follow, receiptsIn } from '../../support/account.ts';
import {
  codeOf,
  confirm,
  decide,
  introspect,
  press,
  reachConsent,
  requestOf,
  returnFrom,
  tokenRequestOf,
} from '../../support/flow.ts';
import type { Answer } from '../../support/http/agent.ts';
import { useServer } from '../../support/server.ts';

// A service with rights of its own: those of docs/integrate/scopes.md, and some with misleading names.

const MISLEADING = parseCatalogue(
  JSON.stringify({
    'payment:history': { text: 'See what you paid' },
    receipt: { text: 'See the receipt of {target}', names: 'shop', lifts: [] },
    t: { text: 'Tip {target}', names: 'shop', spends: true, lifts: [] },
  }),
);
const catalogue = new Map([...BANK, ...SHOP, ...MISLEADING]);
const server = await useServer({ offer: { catalogue, defaultLimit: { days: 30, sum: '99.50' } } });
const { pool } = server.database;
const resource = await server.createResource();

let { client, user, agent } = await actorsAt(server);

beforeEach(async () => {
  ({ client, user, agent } = await actorsAt(server));
});

const consentFor = (scope: string) => reachConsent(agent, requestOf(client, { scope }), user);

async function exchange(answer: Answer): Promise<{ access_token: string; scope?: string }> {
  const { status, body } = await agent.post('/oauth/token', tokenRequestOf(client, codeOf(answer)));
  expect(status).toBe(200);
  return JSON.parse(body);
}

const obtain = async (scope: string) => exchange(await decide(agent, await consentFor(scope), 'allow'));

const ASKED = 'account-info transfer.to("79161234567","phone")';
const COMPLETE = 'account-info transfer.to("79161234567","phone").limit(30,99.50)';
const SENTENCE = 'transfer money to the phone number “+79161234567” up to RUB 99.50 in any 30 days';
const SPENDING = {
  ...{ right: 'transfer.to', target: '79161234567', target_type: 'phone' },
  ...{ period_days: 30, amount: '99.50', currency: 'RUB' },
};

const approved = async () =>
  (await pool.query('select scope from grants where client_id = $1', [client.clientId])).rows;

describe('a custom payment right', () => {
  it('shows the default limit and the total sum, and requires the payment password', async () => {
    const page = await consentFor(ASKED);
    for (const part of [
      `It can ${SENTENCE}, until`,
      'RUB 3,681.50 at most in all.',
      'It can’t spend more, pay anyone else, see your transactions,',
    ])
      expect(page.text).toContain(part);
    // The file has no `money-source`: a bank may have neither.
    expect(page.text).not.toMatch(/wallet|card/);
    const confirmPage = await follow(agent, await press(agent, page, 'allow'));
    expect([confirmPage.page, confirmPage.text.includes(SENTENCE)]).toEqual(['confirm', true]);
    expect((await confirm(agent, confirmPage, 'wrong')).location).not.toContain('/oauth/receipt');
    expect(await approved()).toEqual([]);
  });

  it('is paid from what the service calls its sources of money, on all pages', async () => {
    const sources = { wallet: 'your current account', card: { en: 'your credit', ru: 'кредита' } };
    const file = { 'money-source': { text: 'Paid from {target}', sources } };
    const named = new Map([...catalogue, ...parseCatalogue(JSON.stringify(file))]);
    const bank = await useServer({ database: server.database, offer: { catalogue: named } });
    const { client, user, agent } = await actorsAt(bank);
    const pageOf = (scope: string) => reachConsent(agent, requestOf(client, { scope }), user);
    const { text } = await pageOf('transfer.limit(7,5)');
    expect(text).toContain('Paid from your current account');
    expect(text).not.toMatch(/wallet|card/);
    const asked = await pageOf('transfer.limit(7,5) money-source("card","wallet")');
    const pages = [asked, await follow(agent, await press(agent, asked, 'allow'))];
    for (const page of pages) expect(page.text).toMatch(/paid from your credit or your current account/i);
  });

  it('gets its default limit in the token response, introspection, audit trail, account and receipt', async () => {
    const { access_token, scope } = await obtain(ASKED);
    expect([scope, await approved()]).toEqual([COMPLETE, [{ scope: COMPLETE }]]);
    expect(await introspect(server, resource, access_token)).toMatchObject({
      ...{ active: true, scope: COMPLETE, money_sources: ['wallet'] },
      ...{ rights: [{ right: 'account-info' }, SPENDING], payment_limits: [SPENDING] },
    });
    const { rows } = await pool.query(
      `select scope, limits, detail ->> 'asked_scope' as asked from audit_events where client_id = $1 and kind = 'approved'`,
      [client.clientId],
    );
    expect(rows).toEqual([{ scope: COMPLETE, limits: [SPENDING], asked: ASKED }]);
    for (const path of ['/oauth/account', ...(await receiptsIn(agent)).slice(0, 1)]) {
      const { text } = await agent.get(path);
      expect(text).toMatch(/transfer money to the phone number “\+79161234567”/i);
      expect(text).toMatch(/(At most|up to) RUB 99\.50 in any 30 days/);
    }
  });

  it('has the default limit in its field if users may lower it, and is granted as lowered', async () => {
    client = await server.createClient({ userLimits: true });
    const page = await consentFor(ASKED);
    expect(page.body).toMatch(/name="limit_1"[^>]* value="99\.50"/);
    const asked = await agent.submit(page, 'decision', { decision: 'allow', limit_1: '7' });
    const done = await confirm(agent, await follow(agent, asked), user.paymentPassword);
    const lower = COMPLETE.replace('99.50', '7');
    expect(await exchange(await returnFrom(agent, done))).toMatchObject({ scope: lower });
  });
});

it('RFC 8414: scopes_supported lists rights without a target, in the order of the catalogue', async () => {
  const { body } = await agent.get('/.well-known/oauth-authorization-server');
  const rights = ['account-info', 'statements:read', 'transfer', 'points:read', 'payment:history'];
  expect(JSON.parse(body).scopes_supported).toEqual(rights);
});
