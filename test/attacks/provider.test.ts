import { randomUUID } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/secrets/digest.ts';
import { insertSession } from '../../src/store/common/sessions.ts';
import { copyOf } from '../support/account.ts';
import { linkTo, requestOf } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { changeClient } from '../support/operators.ts';
import { waitForLocks, whileHeld } from '../support/postgres/locks.ts';
import { CALLER, useServer } from '../support/server.ts';
import { callbackOf, leaveFor, passWallet, useWallet } from '../support/wallet.ts';
import { begunIn, expectRefused, signInCookie, usersWith } from './refusals.ts';

// An attacker wants to sign in as the victim by the messages between the wallet and us, or the victim signed in as the attacker.

const wallet = await useWallet();
const server = await useServer({ provider: wallet.settings });
const shop = await server.createClient();
const { pool } = server.database;
const { keyRing } = server.context;
const other = await generateKeyPair('RS256');

const refuse = (agent: Agent, callback: string, ruleId: string, rule?: RegExp) =>
  expectRefused(server, agent, callback, ruleId, rule);

/** A browser that has come back from the wallet, but for the last step. */
async function returning(from = '/oauth/account') {
  const agent = new Agent(server.baseUrl);
  const callback = await callbackOf(agent, await leaveFor(wallet, agent, from));
  return { agent, callback };
}

function changed(callback: string, changes: Record<string, string | undefined>): string {
  const url = new URL(callback);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.href;
}

const parameter = (callback: string, name: string) => new URL(callback).searchParams.get(name) ?? '';

it('each sign-in has new state, nonce and challenge, and hides the request from the provider', async () => {
  const agent = new Agent(server.baseUrl);
  const request = linkTo(requestOf(shop, { state: 'the-state-of-the-shop' }));
  const [first, second] = [await leaveFor(wallet, agent, request), await leaveFor(wallet, agent, request)];
  for (const name of ['state', 'nonce', 'code_challenge']) {
    expect(parameter(first, name)).toMatch(/^[\w-]{43}$/);
    expect(parameter(first, name)).not.toBe(parameter(second, name));
  }
  expect(first).not.toMatch(new RegExp(`${shop.clientId}|the-state-of-the-shop|account-info`));
  const left = await agent.get(`/oauth/sign-in?${request.split('?')[1]}`);
  expect(left.headers.get('cache-control')).toBe('no-store');
});

const text = new TextEncoder();
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const now = Math.floor(Date.now() / 1000);
const REPLACED: Record<string, readonly [reason: RegExp, replaced: typeof wallet.replaced]> = {
  'from another issuer': [/"iss"/, { claims: { iss: 'https://wallet.example' } }],
  'without iss': [/"iss"/, { without: 'iss' }],
  'for another client': [/"aud"/, { claims: { aud: 'another' } }],
  'without aud': [/"aud"/, { without: 'aud' }],
  'for two clients, without azp': [/"aud"/, { claims: { aud: ['assent', 'another'] } }],
  'for two clients, with another azp': [/"azp"/, { claims: { aud: ['assent', 'another'], azp: 'another' } }],
  'with another nonce': [/"nonce"/, { claims: { nonce: 'another' } }],
  'without nonce': [/"nonce"/, { without: 'nonce' }],
  'without sub': [/"sub"/, { without: 'sub' }],
  'expired a minute ago': [/"exp"/, { claims: { exp: now - 60 } }],
  'without exp': [/"exp"/, { without: 'exp' }],
  'with nbf in the future': [/"nbf"/, { claims: { nbf: now + 600 } }],
  'unsigned, alg none': [/"alg"/, { idToken: (claims) => `${encoded({ alg: 'none' })}.${encoded(claims)}.` }],
  'signed with the client secret (HS256)': [
    /"alg"/,
    { header: { alg: 'HS256' }, key: text.encode(wallet.settings.clientSecret) },
  ],
  'signed by a key outside the provider’s JWKS': [/key/, { header: { kid: '2' }, key: other.privateKey }],
  'signed by another key with the kid of the provider’s key': [/signature/, { key: other.privateKey }],
  'with a sub changed after signing': [/signature/, { idToken: (_claims, signed) => withAnotherSub(signed) }],
  'absent from the token response': [
    /"id_token"/,
    { token: { status: 200, body: '{"access_token":"x","token_type":"Bearer"}' } },
  ],
};
const withAnotherSub = (signed: string) => {
  const [header, payload = '', signature] = signed.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
  return [header, encoded({ ...claims, sub: 'another' }), signature].join('.');
};

it.each(Object.entries(REPLACED))('an invalid ID token is refused: %s', async (_name, [reason, replaced]) => {
  const { agent, callback } = await returning();
  wallet.replaced = replaced;
  await refuse(agent, callback, 'sign_in_failed', reason);
  expect(wallet.exchanges).toHaveLength(1);
});

describe('a forged or replayed authorization response', () => {
  it.each([
    ['no iss, though the provider’s metadata announce it', { iss: undefined }],
    ['the iss of another provider (mix-up)', { iss: 'https://wallet.example' }],
    [
      'an error from another provider',
      { iss: 'https://wallet.example', error: 'access_denied', code: undefined },
    ],
    ['no code', { code: undefined }],
    ['an id_token parameter (hybrid flow)', { id_token: 'x.y.z' }],
    ['a response parameter (JARM)', { response: 'x.y.z' }],
  ])('is refused before its code is used: %s', async (_what, changes) => {
    const { agent, callback } = await returning();
    await refuse(agent, changed(callback, changes), 'sign_in_failed');
    expect(wallet.exchanges).toEqual([]);
  });

  it('is refused with a duplicate code, iss or state; for state, the page names no client', async () => {
    for (const name of ['code', 'iss', 'state']) {
      const { agent, callback } = await returning(linkTo(requestOf(shop)));
      const twice = `${callback}&${name}=${parameter(callback, name)}`;
      const answer = await refuse(agent, twice, name === 'state' ? 'sign_in_lost' : 'sign_in_failed');
      expect(answer.body.includes(shop.clientId)).toBe(name !== 'state');
    }
    expect(wallet.exchanges).toEqual([]);
  });

  it.each([
    ['another state', { state: 'another' }],
    ['no state', { state: undefined }],
    ['an error with another state', { error: 'access_denied', code: undefined, state: 'another' }],
    ['an error without state', { error: 'access_denied', code: undefined, state: undefined }],
  ])('is refused, the page names no client, and the sign-in stays pending: %s', async (_what, changes) => {
    const { agent, callback } = await returning(linkTo(requestOf(shop)));
    const answer = await refuse(agent, changed(callback, changes), 'sign_in_lost');
    expect(answer.body).not.toContain(shop.clientId);
    expect((await agent.get(callback)).location).toContain(shop.clientId);
  });

  it('is refused in another browser, with or without a pending sign-in (login CSRF) [provider-1]', async () => {
    const [{ callback }, pending] = [await returning(), await returning()];
    await refuse(new Agent(server.baseUrl), callback, 'sign_in_no_cookies');
    await refuse(pending.agent, callback, 'sign_in_lost', /state/);
    expect(wallet.exchanges).toEqual([]);
    expect((await pending.agent.get(pending.callback)).status).toBe(303);
  });

  it('is refused with the attacker’s code, which does not match the victim’s code_verifier', async () => {
    const [attacker, victim] = [await returning(), await returning()];
    const planted = changed(victim.callback, { code: parameter(attacker.callback, 'code') });
    await refuse(victim.agent, planted, 'sign_in_failed', /token endpoint answered invalid_grant$/);
    expect(wallet.exchanges).toHaveLength(1);
  });

  it('is refused a second time, also with the earlier cookie and another code', async () => {
    const { agent, callback } = await returning();
    const thief = copyOf(agent);
    await agent.get(callback);
    const used = begunIn(server, agent);
    expect([used.stage, 'nonce' in used, 'verifier' in used]).toEqual(['used', false, false]);
    agent.cookies.delete('assent_session');
    await refuse(agent, callback, 'sign_in_lost', /completed/);
    await refuse(thief, changed(callback, { code: 'another' }), 'sign_in_lost', /completed/);
    expect(wallet.exchanges).toHaveLength(1);
  });
});

describe('the sign-in cookie', () => {
  const put = (agent: Agent, begun: Record<string, unknown>) => {
    const [name = ''] = [...agent.cookies.keys()].filter((cookie) => cookie.startsWith('assent_sign_in_'));
    agent.cookies.set(name, keyRing.sign('provider', deflateRawSync(JSON.stringify(begun))));
  };

  it('expires', async () => {
    const { agent, callback } = await returning();
    const begun = begunIn(server, agent);
    put(agent, { ...begun, at: Date.now() - 599_000 });
    expect((await copyOf(agent).get(callback)).status).toBe(303);
    const late = await returning();
    put(late.agent, { ...begunIn(server, late.agent), at: Date.now() - 600_000 });
    await refuse(late.agent, late.callback, 'sign_in_lost');
    expect(wallet.exchanges).toHaveLength(1);
  });

  it('is refused when changed, truncated, extended or unsigned', async () => {
    const { agent, callback } = await returning();
    const name = signInCookie(callback) ?? '';
    const cookie = agent.cookies.get(name) ?? '';
    const changed = cookie.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    for (const value of [changed, cookie.slice(0, -1), `${cookie}A`, 'x', encodeURIComponent('{}')]) {
      const browser = copyOf(agent);
      browser.cookies.set(name, value);
      await refuse(browser, callback, 'sign_in_lost');
    }
    expect(wallet.exchanges).toEqual([]);
  });

  it('leads only to a valid authorization request, which is validated again on return', async () => {
    const refusedRequest = linkTo(requestOf(shop, { redirect_uri: 'https://evil.example/' }));
    const answer = await new Agent(server.baseUrl).get(
      refusedRequest.replace('/oauth/authorize', '/oauth/sign-in'),
    );
    expect([answer.status, answer.page, answer.location]).toEqual([400, 'error', null]);
    const client = await server.createClient();
    const { agent, callback } = await returning(linkTo(requestOf(client)));
    await changeClient(pool, client.clientId, { redirectUri: 'https://shop.example/' }, 'olga');
    await refuse(agent, callback, 'redirect_uri_unregistered');
  });

  it('leads only to pages of Assent, even if the callback URL contains other targets', async () => {
    const { agent, callback } = await returning(linkTo(requestOf(shop)));
    const evil = 'https://evil.example/';
    const more = { redirect_uri: evil, back: evil, client_id: evil, target_link_uri: evil };
    const answer = await agent.get(changed(callback, more));
    expect([answer.status, answer.body]).toEqual([303, '']);
    expect(answer.location).toMatch(`${server.baseUrl}/oauth/authorize?client_id=${shop.clientId}&`);
    expect(answer.location).not.toContain('evil');
  });
});

describe('an error response of the provider', () => {
  it.each([
    ['invalid_request', /^the provider answered invalid_request$/],
    ['w_'.repeat(20), /^the provider answered (w_){20}$/],
    [`${'w_'.repeat(20)}w`, /^the provider answered an error$/],
    ['<script>alert(1)</script>', /^the provider answered an error$/],
    ['a\nforged line', /^the provider answered an error$/],
  ])('is refused, and its error code is logged only if short and safe: %j', async (error, rule) => {
    wallet.replaced = { callback: { code: undefined, error, error_description: 'SECRET' } };
    const { agent, callback } = await returning();
    const answer = await refuse(agent, callback, 'sign_in_failed', rule);
    expect(answer.body + server.logLines.join('')).not.toMatch(/SECRET|<script>alert|forged line/);
  });
});

describe('the user for a `sub` of the provider', () => {
  /** Signs a user in at the wallet. @returns the users with that `sub` */
  async function arrive(user: typeof wallet.user = wallet.user, agent = new Agent(server.baseUrl)) {
    wallet.user = user;
    await passWallet(wallet, agent, '/oauth/account');
    return usersWith(server, { external_id: user.sub });
  }

  const newSub = () => `s-${randomUUID()}`;

  it('is never an existing user with the same login [provider-2]', async () => {
    const victim = await server.createUser({ login: `anna-${randomUUID()}` });
    const before = await usersWith(server, { login: victim.login });
    const claims = { preferred_username: victim.login.toUpperCase(), name: 'Anna' };
    const agent = new Agent(server.baseUrl);
    const [made] = await arrive({ sub: newSub(), ...claims }, agent);
    expect(await usersWith(server, { login: victim.login })).toEqual(before);
    expect(before[0]?.external_id).toBeNull();
    expect(made).toMatchObject({ login: wallet.user.sub, name: 'Anna', password_hash: null });
    expect((await agent.get('/oauth/account')).text).not.toContain(victim.login);
  });

  it('gets a login with a suffix if its `sub` and preferred_username are another user’s login', async () => {
    const victim = await server.createUser({ login: `v-${randomUUID()}` });
    const [made] = await arrive({ sub: victim.login, preferred_username: victim.login });
    expect(made?.login).toMatch(new RegExp(`^${victim.login}-[0-9a-f]{8}$`));
    expect(made?.user_id).not.toBe(victim.userId);
  });

  it('is another one for a `sub` in other letter case', async () => {
    const sub = `Sub-${randomUUID()}`;
    const [made] = await arrive({ sub });
    const [another] = await arrive({ sub: sub.toUpperCase() });
    expect(another?.user_id).not.toBe(made?.user_id);
  });

  it.each([
    ['of the greatest length is created', 'sub'.repeat(85), true],
    ['that is longer is refused', `${'sub'.repeat(85)}s`, false],
    ['that is empty is refused', '', false],
    ['with spaces inside is created', 'uid=vera, ou=people,  o=Wallet Ltd', true],
    ['that begins with a space is refused', ' sub', false],
    ['with a no-break space is refused', 'sub\u00a01', false],
    ['with a zero-width space is refused', 'sub\u200b1', false],
  ])('with a `sub` %s', async (_what, sub, isMade) => {
    wallet.user = { sub };
    const { agent, callback } = await returning();
    if (isMade) expect((await agent.get(callback)).status).toBe(303);
    else await refuse(agent, callback, 'sign_in_user_unusable', /external id/);
    expect(await usersWith(server, { external_id: sub })).toHaveLength(isMade ? 1 : 0);
  });

  it('gets its `sub` as login and name if those from the provider are invalid', async () => {
    for (const bad of ['', ' ', 'sub-'.repeat(33), 'e\u0301'.repeat(9_999), 'a\u200db', 7, ['a'], null]) {
      const sub = newSub();
      const name = typeof bad === 'string' && bad.length > 100 ? bad.normalize().slice(0, 100) : sub;
      expect(await arrive({ sub, preferred_username: bad, name: bad })).toMatchObject([{ login: sub, name }]);
    }
  });

  it('gets its `sub` as login if preferred_username resembles a login, the service or a user id', async () => {
    const id = randomUUID().replaceAll(/[^a-f]/g, '');
    const taken = ['cacao', 'user1', 'mоde-', 'I']; // with a Cyrillic letter in the third
    for (const name of taken) await server.createUser({ login: name + id });
    const similar = ['userl', 'USERI', 'rnode-', '1', 'сасао', 'са', 'CАCAO', 'ｃａｃａｏ'];
    const looks = [...similar.map((name) => name + id), `cacao${id}\u200b`];
    const service = ['Assent', 'a ssent', '✓ vera', new URL(server.baseUrl).hostname];
    const victim = { sub: `Sub-${randomUUID()}` };
    const [{ user_id } = {}] = await arrive(victim);
    const rename = 'update users set login = $2, login_key = $2 where user_id = $1';
    await pool.query(rename, [user_id, randomUUID()]);
    const ids = [victim.sub, String(user_id), String(user_id).toUpperCase()];
    for (const preferred_username of [...looks, ...service, ...ids]) {
      const sub = newSub();
      expect(await arrive({ sub, preferred_username })).toMatchObject([{ login: sub }]);
    }
  });

  it('gets a generated login if its `sub` is invalid as a login', async () => {
    for (const sub of [`-${randomUUID()}`, `${randomUUID()} `.repeat(4).trim()])
      expect(await arrive({ sub })).toMatchObject([{ login: expect.stringMatching(/^user-[0-9a-f]{16}$/) }]);
  });

  it('is created once by two concurrent responses', async () => {
    const both = [await returning(), await returning()];
    const waiting = await whileHeld(pool, 'lock table users in share mode', [], async () => {
      const sent = both.map(({ agent, callback }) => agent.get(callback));
      await waitForLocks(pool, 2);
      return sent;
    });
    const answers = await Promise.all(waiting);
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect(await usersWith(server, { external_id: wallet.user.sub })).toHaveLength(1);
  });

  it('is refused if blocked before the provider’s response arrives', async () => {
    await arrive();
    const { agent, callback } = await returning();
    await pool.query(`update users set status = 'blocked' where external_id = $1`, [wallet.user.sub]);
    const answer = await refuse(agent, callback, 'user_blocked');
    expect(answer.text).toContain('You can’t sign in here with this account.');
  });

  it('is checked again, by `sub` and status, in the SQL statement that creates the session', async () => {
    const [{ user_id } = {}] = await arrive();
    const origin = { browser: null, system: null, network: null, knownDevice: false, earlierHash: null };
    const open = async (externalId: string | null) => {
      const session = { sessionHash: sha256(randomUUID()), userId: String(user_id), passwordHash: null };
      return (await insertSession(pool, { ...session, externalId, ...origin, ...CALLER })).valid;
    };
    const ofUser = wallet.user.sub;
    expect([await open('another'), await open(null), await open(ofUser)]).toEqual([false, false, true]);
    await pool.query(`update users set status = 'blocked' where user_id = $1`, [user_id]);
    expect(await open(ofUser)).toBe(false);
  });
});
