import { describe, expect, it } from 'vitest';
import { BUILT_IN_CATALOGUE, parseCatalogue } from '../../../src/languages/catalogue.ts';
import { TEXTS } from '../../../src/languages/languages.ts';
import { BANK, SHOP } from '../../rules/ownRightFiles.ts';
import { actorsAt, copyOf, follow, press as pressOn } from '../../support/account.ts';
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
import { useServer } from '../../support/server.ts';

// Replicas of one service, as while an operator changes `CATALOGUE` or `DEFAULT_LIMIT`.

const FILE = { 'points:read': { text: 'See your points', spends: true } };
const catalogue = new Map([...BUILT_IN_CATALOGUE, ...BANK, ...SHOP]);
const server = await useServer({ offer: { catalogue } });
const { database } = server;
const richer = await useServer({
  database,
  offer: {
    catalogue: new Map([...catalogue, ...parseCatalogue(JSON.stringify(FILE))]),
    defaultLimit: { days: 1, sum: '5000' },
  },
});
const builtIn = await useServer({ database, maxInstances: 2_000 });
/** The same rights, and other words for them. */
const CLOSING = parseCatalogue(JSON.stringify({ 'statements:read': { text: 'Close your account' } }));
const reworded = await useServer({ database, offer: { catalogue: new Map([...catalogue, ...CLOSING]) } });
const SOURCES = {
  text: 'Paid from {target}',
  sources: { wallet: 'your current account', card: 'your credit' },
};
const SOURCED = parseCatalogue(JSON.stringify({ 'money-source': SOURCES }));
const banking = await useServer({ database, offer: { catalogue: new Map([...catalogue, ...SOURCED]) } });
const shop = (name: string) => ({ shop: new Map([['42', { en: name, ru: name }]]), account: new Map() });
const renamed = await useServer({ database, directory: shop('Casino'), offer: { catalogue } });
const inEuros = await useServer({ database, currency: 'EUR', offer: { catalogue } });
const resource = await server.createResource();

describe('a page loaded before the operator changed the catalogue', () => {
  const SCOPES = {
    'the default limit of a built-in right': 'payment-shop',
    'the default limit of a custom right': 'transfer',
    'the “spends” flag of a right': 'points:read',
  };
  const CASES = Object.entries(SCOPES).flatMap(([what, scope]) => [
    { what, scope, before: server, after: richer },
    { what, scope, before: richer, after: server },
  ]);

  it.each(CASES)('grants nothing after a change of $what (case %#)', async ({ scope, before, after }) => {
    const { client, user, agent } = await actorsAt(before);
    const page = await reachConsent(agent, requestOf(client, { scope, instance_name: 'till' }), user);
    const rows = await rowsOf(database);
    const other = copyOf(agent, after.baseUrl);
    const again = await goOnToConsent(other, await press(other, page, 'allow'), user);
    expect(again.text).toContain('That page was out of date, so your answer was not accepted.');
    expect(await rowsOf(database)).toBe(rows);
    const sums = /RUB [35],000/g;
    expect(again.text.match(sums)).not.toEqual(page.text.match(sums));
    await decide(other, again, 'allow');
    expect(await rowsOf(database)).not.toBe(rows);
  });

  it.each(['allow', 'reject'] as const)('leads to %s only an error once a right is gone', async (choice) => {
    const { client, user, agent } = await actorsAt(server);
    const page = await reachConsent(agent, requestOf(client, { scope: 'statements:read' }), user);
    const rows = await rowsOf(database);
    const other = copyOf(agent, builtIn.baseUrl);
    expectErrorPage(await press(other, page, choice), 'invalid_scope');
    expect(await rowsOf(database)).toBe(rows);
  });

  it.each([
    ['the words of a right', 'statements:read', reworded, 'lose your account'],
    ['the words for a source of money', 'payment-shop.limit(7,100)', banking, 'your current account'],
    ['the name of a shop', 'payment.to-pattern("42").limit(7,100)', renamed, 'Casino'],
    ['the currency', 'payment-shop.limit(7,100)', inEuros, 'EUR 100'],
  ])('grants nothing after a change of %s', async (_what, scope, after, words) => {
    const { client, user, agent } = await actorsAt(server);
    const page = await reachConsent(agent, requestOf(client, { scope }), user);
    const rows = await rowsOf(database);
    const other = copyOf(agent, after.baseUrl);
    const again = await goOnToConsent(other, await press(other, page, 'allow'), user);
    expect([page.text.includes(words), again.text.includes(words)]).toEqual([false, true]);
    expect(again.text).toContain('That page was out of date, so your answer was not accepted.');
    expect(await rowsOf(database)).toBe(rows);
    expect(codeOf(await decide(agent, page, 'allow'))).toMatch(/^assent_ac_/);
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

  /** An authorization from before, and the browser of its user at the server without these rights. */
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

  it('stay in introspection, on the account page and in the history, and can be disconnected, but not requested', async () => {
    const { client, agent, token } = await granted();
    const before = await introspect(server, resource, token);
    expect(before).toMatchObject({ active: true, scope: SCOPE, money_sources: ['wallet'] });
    expect(before.payment_limits).toHaveLength(1);
    expect(await introspect(builtIn, resource, token)).toEqual(before);
    const refused = await agent.post('/oauth/authorize', requestOf(client, { scope: SCOPE }));
    expectErrorPage(refused, 'invalid_scope');
    expect(refused.text).toContain(TEXTS.en.errors.reasons.unreadable_rights);
    const account = await agent.get('/oauth/account');
    for (const { text } of [account, await agent.get('/oauth/account/history')]) expect(text).toMatch(SHOWN);
    await pressOn(agent, account, '/oauth/account/disconnect');
    expect(await introspect(builtIn, resource, token)).toEqual({ active: false });
    expect((await agent.get('/oauth/account/history')).text).toMatch(SHOWN);
  });
});
