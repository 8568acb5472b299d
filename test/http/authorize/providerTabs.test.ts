import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { logOf } from '../../attacks/refusals.ts';
import { copyOf, fieldsFor } from '../../support/account.ts';
import { codeOf, decide, linkTo as linkOf, requestOf } from '../../support/flow.ts';
import { Agent, type Answer } from '../../support/http/agent.ts';
import { newSecret } from '../../support/ledger.ts';
import { rowsOf } from '../../support/postgres/rows.ts';
import { useServer } from '../../support/server.ts';
import { callbackOf, goOn, leaveFor, passWallet, useWallet } from '../../support/wallet.ts';

const wallet = await useWallet();
const server = await useServer({ provider: wallet.settings });
const [shop, other] = [await server.createClient(), await server.createClient()];

const linkTo = (client = shop, fields: Record<string, string> = {}) => linkOf(requestOf(client, fields));
const browser = () => new Agent(server.baseUrl);
const namesOf = ({ cookies }: Agent) => [...cookies.keys()].filter((name) => name.includes('sign_in'));

/** Leaves for the wallet and signs in there. @returns the address of the answer, which isn't asked for yet */
const answered = async (agent: Agent, from = linkTo()) =>
  callbackOf(agent, await leaveFor(wallet, agent, from));

const againOf = ({ body }: Answer) =>
  /href="(\/oauth\/sign-in[^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? null;

describe('several tabs', () => {
  it('return to their own requests, in any order, in one session with separate decisions', async () => {
    const agent = browser();
    const [first, second] = [await answered(agent, linkTo(shop)), await answered(agent, linkTo(other))];
    const pages = [await goOn(wallet, agent, second)];
    const session = agent.cookies.get('assent_session');
    pages.push(await goOn(wallet, agent, first));
    expect(agent.cookies.get('assent_session')).toBe(session);
    for (const [page, { clientId }] of [
      [pages[0] as Answer, other],
      [pages[1] as Answer, shop],
    ] as const) {
      expect(fieldsFor(page, '/oauth/consent').request).toContain(clientId);
      expect(codeOf(await decide(agent, page, 'allow'))).toMatch(/^assent_ac_/);
    }
  });

  it('still work after the provider’s token endpoint failed: a reload repeats the exchange', async () => {
    const agent = browser();
    const callback = await answered(agent);
    wallet.replaced = { token: { status: 503, body: '' } };
    expect((await agent.get(callback)).status).toBe(503);
    wallet.replaced = {};
    const again = await agent.get(callback);
    expect([again.status, again.location]).toEqual([303, expect.stringContaining(shop.clientId)]);
  });

  it.each([
    ['are limited to four: a fifth ends the oldest', 0, [false, true, true, true, true]],
    ['share the space for cookies: earlier long requests are dropped', 2_400, [false, false, true]],
  ])('%s', async (_what, bytes, kept) => {
    const agent = browser();
    const callbacks: string[] = [];
    for (const _tab of kept) {
      const state = randomBytes(bytes).toString('base64url');
      callbacks.push(await answered(agent, linkTo(shop, { state })));
    }
    expect(namesOf(agent).length).toBeLessThanOrEqual(4);
    const values = namesOf(agent).map((name) => agent.cookies.get(name));
    expect(values.join('').length).toBeLessThanOrEqual(6_500);
    for (const [index, callback] of callbacks.entries()) {
      const answer = await agent.get(callback);
      const lost = [400, 'error', '/oauth/sign-in'];
      expect([answer.status, answer.page, againOf(answer)]).toEqual(kept[index] ? [303, null, null] : lost);
    }
  });
});

describe('a repeated provider response', () => {
  it('leads back to its request during the session: on reload, or Back and Continue', async () => {
    const agent = browser();
    const address = await leaveFor(wallet, agent, linkTo());
    const callback = await callbackOf(agent, address);
    await agent.get(callback);
    for (const again of [callback, await callbackOf(agent, address)]) {
      const answer = await agent.get(again);
      expect([answer.status, answer.location]).toEqual([303, expect.stringContaining(shop.clientId)]);
      expect((await agent.get(answer.location ?? '')).page).toBe('consent');
    }
    expect(wallet.exchanges).toHaveLength(1);
  });

  it('offers sign-in for its own request once the session has ended', async () => {
    const agent = browser();
    const [callback] = [await answered(agent), await answered(agent, linkTo(other))];
    const page = await goOn(wallet, agent, callback);
    await agent.post('/oauth/sign-out', fieldsFor(page, '/oauth/sign-out'));
    const answer = await agent.get(callback);
    expect([answer.status, againOf(answer)]).toEqual([400, expect.stringContaining(shop.clientId)]);
    expect(answer.body).not.toContain(other.clientId);
    const { back = '' } = fieldsFor(answer, '/oauth/language');
    expect(Buffer.from(back, 'base64url').toString()).toBe(againOf(answer));
  });

  it('works for a user who cancelled at the provider, went back and signed in', async () => {
    const agent = browser();
    const address = await leaveFor(wallet, agent, linkTo());
    wallet.replaced = { callback: { code: undefined, error: 'access_denied' } };
    const denied = await callbackOf(agent, address);
    for (let times = 0; times < 5; times += 1)
      expect((await agent.get(denied)).text).toContain('The sign-in is not complete Nothing was allowed.');
    wallet.replaced = {};
    expect((await goOn(wallet, agent, await callbackOf(agent, address))).page).toBe('consent');
  });
});

it.each([
  { method: 'HEAD', headers: {}, status: 405 },
  { method: 'GET', headers: { 'sec-purpose': 'prefetch', 'sec-fetch-dest': 'document' }, status: 403 },
  { method: 'GET', headers: { 'sec-purpose': 'prefetch;prerender' }, status: 403 },
])('prefetching a link neither begins nor completes a sign-in: %j', async ({ status, ...init }) => {
  const agent = browser();
  const callback = await answered(agent);
  const [rows, cookies] = [await rowsOf(server.database), copyOf(agent).cookies];
  for (const path of ['/oauth/sign-in', callback]) expect((await agent.send(path, init)).status).toBe(status);
  expect([wallet.exchanges, agent.cookies, await rowsOf(server.database)]).toEqual([[], cookies, rows]);
  expect((await agent.get(callback)).status).toBe(303);
});

it.each([
  'temporarily_unavailable',
  'server_error',
  'login_required',
  'interaction_required',
  'consent_required',
])('a sign-in that the provider could not finish is restarted for the same request: %s', async (error) => {
  const agent = browser();
  wallet.replaced = { callback: { code: undefined, error, error_description: 'authentication_expired' } };
  const answer = await passWallet(wallet, agent, linkTo());
  expect([answer.status, againOf(answer)]).toEqual([400, expect.stringContaining(shop.clientId)]);
  expect(answer.text).toContain('could not finish your sign-in');
  const rule = `the provider answered ${error}`;
  expect(await logOf(server, answer)).toMatchObject({ rule_id: 'sign_in_unfinished', rule });
  wallet.replaced = {};
  expect((await goOn(wallet, agent, againOf(answer) ?? '')).page).toBe('consent');
});

it('sign-in cookies that are forged or too many are removed, a limited number at once', async () => {
  const agent = browser();
  const made = Array.from({ length: 30 }, (_, index) => `assent_sign_in_${index}`);
  for (const name of [...made, 'assent_sign_in_', 'assent_sign_in_x-y']) agent.cookies.set(name, newSecret());
  const callback = await answered(agent);
  expect(namesOf(agent).length).toBeLessThanOrEqual(32 - 20 + 1);
  await answered(agent);
  expect(namesOf(agent).length).toBeLessThanOrEqual(4);
  expect((await agent.get(callback)).status).toBe(303);
});
