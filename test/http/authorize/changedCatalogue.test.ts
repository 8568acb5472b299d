import { describe, expect, it } from 'vitest';
import { BUILT_IN_CATALOGUE, parseCatalogue } from '../../../src/languages/catalogue.ts';
import { TEXTS } from '../../../src/languages/languages.ts';
import { BANK, SHOP } from '../../rules/ownRightFiles.ts';
import { actorsAt, copyOf, follow, press as pressOn, receiptsIn } from '../../support/account.ts';
import {
  codeOf,
  confirm,
  decide,
  goOnToConsent,
  introspect,
  obtainToken,
  press,
  reachConsent,
  requestOf,
} from '../../support/flow.ts';
import { expectErrorPage } from '../../support/pages.ts';
import { rowsOf } from '../../support/postgres/rows.ts';
import { type ServerOptions, useServer } from '../../support/server.ts';

// Replicas of one service, as while an operator changes `CATALOGUE` or `DEFAULT_LIMIT`.

const FILE = { 'points:read': { text: 'See your points', spends: true } };
const catalogue = new Map([...BUILT_IN_CATALOGUE, ...BANK, ...SHOP]);
const server = await useServer({ offer: { catalogue } });
const { database } = server;
const withRights = (file: object, more: ServerOptions['offer'] = {}) =>
  useServer({
    database,
    offer: { catalogue: new Map([...catalogue, ...parseCatalogue(JSON.stringify(file))]), ...more },
  });
const richer = await withRights(FILE, { defaultLimit: { days: 1, sum: '5000' } });
const builtIn = await useServer({ database, maxInstances: 2_000 });
/** The same rights, and other words for them. */
const reworded = await withRights({ 'statements:read': { text: 'Close your account' } });
const SOURCES = { wallet: 'your current account', card: 'your credit' };
const banking = await withRights({ 'money-source': { text: 'Paid from {target}', sources: SOURCES } });
const CASINO = { shop: new Map([['42', { en: 'Casino', ru: 'Casino' }]]), account: new Map() };
const renamed = await useServer({ database, directory: CASINO, offer: { catalogue } });
const inEuros = await useServer({ database, currency: 'EUR', offer: { catalogue } });
const resource = await server.createResource();

describe('a page loaded before the operator changed the catalogue', () => {
  const SUMS = /RUB [35],000/g;
  const DEFAULTS = {
    'the default limit of a built-in right': 'payment-shop',
    'the default limit of a custom right': 'transfer',
    'the “spends” flag of a right': 'points:read',
  };

  it.each(['allow', 'reject'] as const)('leads to %s only an error once a right is gone', async (choice) => {
    const { client, user, agent } = await actorsAt(server);
    const page = await reachConsent(agent, requestOf(client, { scope: 'statements:read' }), user);
    const rows = await rowsOf(database);
    const other = copyOf(agent, builtIn.baseUrl);
    expectErrorPage(await press(other, page, choice), 'invalid_scope');
    expect(await rowsOf(database)).toBe(rows);
  });

  it.each([
    ...Object.entries(DEFAULTS).flatMap(([what, scope]) => [
      { what, scope, before: server, after: richer, words: SUMS },
      { what, scope, before: richer, after: server, words: SUMS },
    ]),
    ...[
      { what: 'the words of a right', scope: 'statements:read', after: reworded, words: /lose your account/ },
      { what: 'the words for a source of money', after: banking, words: /your current account/ },
      {
        what: 'the name of a shop',
        scope: 'payment.to-pattern("42").limit(7,100)',
        after: renamed,
        words: /Casino/,
      },
      { what: 'the currency', after: inEuros, words: /EUR 100/ },
    ].map((row) => ({ scope: 'payment-shop.limit(7,100)', before: server, ...row })),
  ])('grants nothing after a change of $what (case %#)', async ({ scope, before, after, words }) => {
    const { client, user, agent } = await actorsAt(before);
    const page = await reachConsent(agent, requestOf(client, { scope }), user);
    const rows = await rowsOf(database);
    const other = copyOf(agent, after.baseUrl);
    const again = await goOnToConsent(other, await press(other, page, 'allow'), user);
    expect(again.text).toContain('That page was out of date, so your answer was not accepted.');
    expect(await rowsOf(database)).toBe(rows);
    expect(again.text.match(words)).not.toEqual(page.text.match(words));
    expect(codeOf(await decide(other, again, 'allow'))).toMatch(/^assent_ac_/);
  });

  it('asks for no payment password in other words, and returns what was confirmed before them', async () => {
    const { client, user, agent } = await actorsAt(server);
    const scope = 'payment-shop.limit(7,100) statements:read';
    const page = await reachConsent(agent, requestOf(client, { scope }), user);
    const pressed = await press(agent, page, 'allow');
    const other = copyOf(agent, reworded.baseUrl);
    const elsewhere = pressed.location?.replace(server.baseUrl, reworded.baseUrl) ?? '';
    expect((await goOnToConsent(other, await other.get(elsewhere), user)).text).toContain('out of date');
    const confirmed = await confirm(agent, await follow(agent, pressed), user.paymentPassword);
    const receipt = await other.get(confirmed.location?.replace(server.baseUrl, reworded.baseUrl) ?? '');
    expect(receipt.page).toBe('receipt');
    expect(receipt.text).not.toContain('lose your account');
    const [, onward = ''] = /^0; url=(.+)$/.exec(receipt.headers.get('refresh') ?? '') ?? [];
    expect(codeOf(await other.get(onward))).toMatch(/^assent_ac_/);
  });
});

describe('rights removed from the catalogue', () => {
  const SCOPE = 'transfer.to("41001","email").limit(7,500) statements:read';
  const SHOWN = /“transfer\.to” the email address ?“41001” ?At most RUB 500 in any 7 days.*“statements:read”/;

  async function granted() {
    const { client, user, agent } = await actorsAt(server);
    const token = await obtainToken(agent, client, user, { scope: SCOPE, instance_name: 'till' });
    return { client, user, token, agent: copyOf(agent, builtIn.baseUrl) };
  }

  it('are still shown by name on a later consent page', async () => {
    const { client, user, agent } = await granted();
    const same = { scope: 'account-info', instance_name: 'till' };
    const { text } = await reachConsent(agent, requestOf(client, same), user);
    expect(text).toMatch(SHOWN);
    const beside = await reachConsent(agent, requestOf(client, { scope: 'payment-shop' }), user);
    expect(beside.text).toMatch(/On top: at most RUB 500 in any 7 days/);
    expect((await decide(agent, beside, 'allow')).location).toContain('code=');
  });

  it('stay in introspection, on the account page and the receipt, and can be disconnected, but not requested', async () => {
    const { client, agent, token } = await granted();
    const before = await introspect(server, resource, token);
    expect(before).toMatchObject({ active: true, scope: SCOPE, money_sources: ['wallet'] });
    expect(before.payment_limits).toHaveLength(1);
    expect(await introspect(builtIn, resource, token)).toEqual(before);
    const refused = await agent.post('/oauth/authorize', requestOf(client, { scope: SCOPE }));
    expectErrorPage(refused, 'invalid_scope');
    expect(refused.text).toContain(TEXTS.en.errors.reasons.unreadable_rights);
    const account = await agent.get('/oauth/account');
    expect(account.text).toMatch(SHOWN);
    const [receipt = ''] = await receiptsIn(agent);
    const kept =
      /can “transfer\.to” the email address “41001” up to RUB 500 in any 7 days, .* and “statements:read”/;
    expect((await agent.get(receipt)).text).toMatch(kept);
    await pressOn(agent, account, '/oauth/account/disconnect');
    expect(await introspect(builtIn, resource, token)).toEqual({ active: false });
    expect((await agent.get(receipt)).text).toMatch(kept);
  });
});
