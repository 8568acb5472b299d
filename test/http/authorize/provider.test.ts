import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { MAX_CANONICAL_QUERY_BYTES } from '../../../src/rules/common/limits.ts';
import { BUILT_IN_BRAND } from '../../../src/rules/face/brand.ts';
import { logOf, usersWith } from '../../attacks/refusals.ts';
import { fieldsFor, follow } from '../../support/account.ts';
import {
  codeOf,
  confirm,
  decide,
  introspect,
  linkTo as linkOf,
  press,
  requestOf,
  tokenRequestOf,
} from '../../support/flow.ts';
import { Agent, type Answer } from '../../support/http/agent.ts';
import { basic as basicOf, exchange, expectToken } from '../../support/http/tokenRequests.ts';
import { readSeries } from '../../support/metrics.ts';
import { type ServerOptions, startServer, useServer } from '../../support/server.ts';
import { callbackOf, goOn, leaveFor, openWallet, passWallet, useWallet } from '../../support/wallet.ts';

const wallet = await useWallet();
const support = { url: null, phone: null, email: null, password: 'https://wallet.example/password' };
const server = await useServer({ provider: wallet.settings, brand: { ...BUILT_IN_BRAND, support } });
const { pool } = server.database;
const client = await server.createClient();

const linkTo = (fields: Record<string, string> = {}) => linkOf(requestOf(client, fields));
const confirming = { provider: { ...wallet.settings, paymentAcr: 'payment' } };
const browser = () => new Agent(server.baseUrl);
const queryOf = (address: string) => Object.fromEntries(new URL(address).searchParams);

async function at<Result>(options: ServerOptions, work: (agent: Agent) => Promise<Result>): Promise<Result> {
  const other = await startServer({ database: server.database, provider: wallet.settings, ...options });
  try {
    return await work(new Agent(other.baseUrl));
  } finally {
    await other.close();
  }
}

it('signing in at the provider leads back to the page of the account that a message had linked', async () => {
  const agent = browser();
  const page = '/oauth/account/history/2026-11-29-7f3a91c245';
  const answer = await goOn(wallet, agent, await agent.get(page));
  expect([answer.status, answer.page]).toEqual([404, 'error']); // not on the account page
  expect((await agent.get('/oauth/account')).page).toBe('account');
  for (const foreign of ['//evil.example/', 'https://evil.example/', 'evil']) {
    const back = Buffer.from(foreign).toString('base64url');
    const { location } = await agent.get(`/oauth/sign-in?back=${back}`);
    expect(location).toBe(`${server.baseUrl}/oauth/account`);
  }
});

it('signing in at the provider creates and audits the user, and leads to a code and a token', async () => {
  const agent = browser();
  wallet.user = { sub: 'user-1001', preferred_username: 'anna', name: 'Anna Petrova' };
  const asked = await agent.post('/oauth/authorize', requestOf(client, { state: 's' }));
  const consent = await goOn(wallet, agent, asked);
  expect([consent.page, consent.text.includes('Anna Petrova')]).toEqual(['consent', true]);
  const answer = await decide(agent, consent, 'allow');
  expect(answer.location).toMatch(/[?&]state=s(&|$)/);
  const token = expectToken(await exchange(server, client, codeOf(answer)));
  const [user] = await usersWith(server, { external_id: 'user-1001' });
  expect(await introspect(server, await server.createResource(), token)).toMatchObject({
    ...{ active: true, sub: user?.user_id, external_id: 'user-1001', username: 'anna' },
  });
  const events = 'select kind, detail from audit_events where user_id = $1 order by at limit 2';
  expect((await pool.query(events, [user?.user_id])).rows).toMatchObject([
    { kind: 'user_created', detail: { by: 'provider' } },
    { kind: 'signed_in' },
  ]);
});

describe('the redirect to the provider', () => {
  it('is an OpenID Connect request with PKCE, in the language of the page', async () => {
    const agent = new Agent(server.baseUrl, { 'accept-language': 'ru' });
    const address = await leaveFor(wallet, agent, linkTo());
    expect(address).toMatch(`${wallet.issuer}/authorize?`);
    const redirect_uri = `${server.baseUrl}/oauth/sign-in/callback`;
    const fresh = expect.any(String);
    expect(queryOf(address)).toEqual({
      ...{ response_type: 'code', client_id: 'assent', redirect_uri, scope: 'openid profile' },
      ...{ state: fresh, nonce: fresh, code_challenge: fresh, code_challenge_method: 'S256' },
      ui_locales: 'ru',
    });
  });

  it('does not happen for a signed-in user', async () => {
    const agent = browser();
    expect((await goOn(wallet, agent, '/oauth/account')).page).toBe('account');
    expect((await follow(agent, await agent.get('/oauth/sign-in'))).page).toBe('account');
    const asked = linkTo().replace('/oauth/authorize', '/oauth/sign-in');
    expect((await follow(agent, await agent.get(asked))).page).toBe('consent');
  });

  it('has prompt=login after a sign-out, and only then', async () => {
    const agent = browser();
    for (const from of ['/oauth/account', linkTo()]) {
      const page = await goOn(wallet, agent, from);
      const answer = await agent.post('/oauth/sign-out', fieldsFor(page, '/oauth/sign-out'));
      expect(agent.cookies.has('assent_session')).toBe(false);
      expect(queryOf(await leaveFor(wallet, agent, answer)).prompt).toBe('login');
      expect(queryOf(await leaveFor(wallet, agent, from)).prompt).toBeUndefined();
    }
  });

  it('preserves the longest authorization request, also when the sign-in is begun twice', async () => {
    const agent = browser();
    const short = new URLSearchParams(requestOf(client, { state: '' })).toString().length;
    const state = randomBytes(MAX_CANONICAL_QUERY_BYTES).toString('base64url');
    const longest = state.slice(0, MAX_CANONICAL_QUERY_BYTES - short - 20);
    await leaveFor(wallet, agent, linkTo({ state: longest }));
    const answer = await decide(agent, await goOn(wallet, agent, linkTo({ state: longest })), 'allow');
    expect(new URL(answer.location ?? '').searchParams.get('state')).toBe(longest);
    const signIns = [...agent.cookies].filter(([name]) => name.includes('sign_in'));
    expect(signIns.map(([, value]) => value).join('').length).toBeLessThan(6_500);
    await at(confirming, async (there) => {
      const link = linkTo({ state: longest.slice(20), scope: 'account-info payment-p2p' });
      const pressed = await press(there, await goOn(wallet, there, link), 'allow');
      const { searchParams } = new URL((await goOn(wallet, there, pressed)).location ?? '');
      expect(searchParams.get('state')).toBe(longest.slice(20));
      expect(searchParams.has('code')).toBe(true);
    });
  });

  it('limits its cookie to this host, https and some minutes', async () => {
    await at({ baseUrl: 'https://pay.example' }, async (agent) => {
      const answer = await agent.get('/oauth/sign-in');
      expect(queryOf(answer.location ?? '').redirect_uri).toBe('https://pay.example/oauth/sign-in/callback');
      expect(answer.headers.getSetCookie()).toEqual([
        expect.stringMatching(
          /^__Host-assent_sign_in_[0-9a-f]{16}=[\w-]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
        ),
      ]);
      const callback = new URL(await callbackOf(agent, answer.location ?? ''));
      const back = await agent.get(callback.pathname + callback.search);
      expect([back.status, back.location]).toEqual([303, 'https://pay.example/oauth/account']);
      expect(agent.cookies.has('__Host-assent_session')).toBe(true);
    });
  });

  it('is followed by a token request with an offered auth method, encoded by RFC 6749, section 2.3.1', async () => {
    const secret = randomUUID();
    const settings = { clientId: 'assent-wallet.prod_1 +:', clientSecret: `${secret}*-._~%é:` };
    const basic = basicOf('assent-wallet.prod_1+%2B%3A', `${secret}*-._%7E%25%C3%A9%3A`).authorization;
    for (const [methods, authorization, posted] of [
      [undefined, basic, null],
      [['client_secret_post', 'client_secret_basic'], basic, null],
      [['client_secret_post'], undefined, settings.clientSecret],
    ] as const) {
      wallet.replaced = { metadata: { token_endpoint_auth_methods_supported: methods } };
      await at({ provider: { ...wallet.settings, ...settings } }, (agent) =>
        passWallet(wallet, agent, '/oauth/account'),
      );
      const exchange = wallet.exchanges.pop();
      expect([exchange?.authorization, exchange?.form.get('client_secret')]).toEqual([authorization, posted]);
    }
  });
});

describe('password pages', () => {
  it('don’t exist if the provider has the passwords', async () => {
    const agent = browser();
    await goOn(wallet, agent, '/oauth/account');
    const posted = await agent.post('/oauth/sign-in', { login: 'a', password: 'b' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET']);
    expect((await agent.get('/oauth/account/password')).status).toBe(404);
    expect((await agent.post('/oauth/account/password', {})).status).toBe(404);
  });

  it('are linked: the URL in BRAND for the password, Assent’s own for a payment password', async () => {
    const agent = browser();
    await goOn(wallet, agent, '/oauth/account');
    const security = await agent.get('/oauth/account/security');
    expect(hrefs(security)).toEqual(['https://wallet.example/password']);
    const none = await agent.get('/oauth/account/payment-password');
    expect((await follow(agent, none)).page).toBe('account');
    const change = `update users set payment_password_hash = 'x' where external_id = $1`;
    await pool.query(change, [wallet.user.sub]);
    expect(hrefs(await agent.get('/oauth/account/security'))).toContain('/oauth/account/payment-password');
    expect((await agent.get('/oauth/account/payment-password')).page).toBe('password');
    await at(confirming, async (there) => {
      await goOn(wallet, there, '/oauth/account');
      expect(hrefs(await there.get('/oauth/account/security'))).toEqual([]);
      expect((await there.get('/oauth/account/payment-password')).status).toBe(404);
    });
  });

  it('are linked by no page that has none for this user, which says that Allow is enough to pay', async () => {
    const local = (page: Answer) =>
      [...page.body.matchAll(/(?:href|action)="(\/oauth\/[^"]*)"/g)].map(([, href = '']) =>
        href.replaceAll('&amp;', '&'),
      );
    for (const options of [{}, confirming, { requiresPaymentPassword: true }])
      await at({ ...options, brand: BUILT_IN_BRAND }, async (agent) => {
        await goOn(wallet, agent, '/oauth/account');
        const consent = await agent.get(linkTo({ scope: 'payment-shop' }));
        const isEnough = consent.text.includes('pressing “Allow” is enough');
        expect(isEnough).toBe(options !== confirming && !('requiresPaymentPassword' in options));
        const pages = ['', '/security', '/stop', '/history'].map((path) =>
          agent.get(`/oauth/account${path}`),
        );
        const shown = [consent, ...(await Promise.all(pages))];
        expect(shown.flatMap(local).filter((href) => /password|payment/.test(href))).toEqual([]);
      });
  });

  it('ask for the payment password of users who have one if the provider confirms no payments', async () => {
    const { userId, paymentPassword } = await server.createUser();
    const agent = browser();
    await goOn(wallet, agent, '/oauth/account');
    const consent = await agent.get(linkTo({ scope: 'payment-shop' }));
    expect(codeOf(await press(agent, consent, 'allow'))).toMatch(/^assent_ac_/);
    const set = `update users u set payment_password_hash = o.payment_password_hash from users o
      where u.external_id = $1 and o.user_id = $2`;
    await pool.query(set, [wallet.user.sub, userId]);
    const again = await agent.get(linkTo({ scope: 'payment-shop' }));
    expect(again.text).toContain('Allow…');
    const page = await follow(agent, await press(agent, again, 'allow'));
    expect(page.page).toBe('confirm');
    const confirmed = await confirm(agent, page, paymentPassword);
    expect(codeOf(await goOn(wallet, agent, confirmed))).toMatch(/^assent_ac_/);
  });

  const hrefs = ({ body }: Answer) =>
    [...body.matchAll(/<a class="button second" href="([^"]*password[^"]*)"/g)].map(([, href]) => href);
});

it('an unknown user is refused with SIGN_IN_NEW_USERS=refuse, until a user with the external id exists', async () => {
  const user = await server.createUser();
  await at({ provider: { ...wallet.settings, createsUsers: false } }, async (agent) => {
    const answer = await passWallet(wallet, agent, '/oauth/account');
    expect([answer.status, answer.page, agent.cookies.size]).toEqual([400, 'error', 1]);
    expect(await usersWith(server, { external_id: wallet.user.sub })).toEqual([]);
    const change = 'update users set external_id = $2 where user_id = $1';
    await pool.query(change, [user.userId, wallet.user.sub]);
    expect((await goOn(wallet, agent, '/oauth/account')).text).toContain(user.login);
  });
});

describe('the name of a user', () => {
  const comeBack = async (agent = browser()) => {
    agent.cookies.delete('assent_session');
    expect((await goOn(wallet, agent, '/oauth/account')).page).toBe('account');
    const [{ login, name } = {}] = await usersWith(server, { external_id: wallet.user.sub });
    return { login, name };
  };

  async function updatesOf(sub: string): Promise<unknown[]> {
    const events = `select detail from audit_events join users using (user_id)
      where kind = 'user_updated' and external_id = $1 order by at`;
    const { rows } = await pool.query<{ detail: Record<string, unknown> }>(events, [sub]);
    for (const { detail } of rows) expect(detail.by).toBe('provider');
    return rows.map(({ detail }) => detail.fields);
  }

  it('is read from userinfo only if needed', async () => {
    wallet.user = { ...wallet.user, name: 'Anna', preferred_username: `anna-${randomUUID()}` };
    await comeBack();
    wallet.user = { sub: wallet.user.sub, name: 'Anna' };
    await comeBack();
    await at(confirming, async (agent) => {
      await goOn(wallet, agent, '/oauth/account');
      wallet.user = { sub: wallet.user.sub };
      const consent = await agent.get(linkTo({ scope: 'payment-shop' }));
      const answer = await goOn(wallet, agent, await press(agent, consent, 'allow'));
      expect(codeOf(answer)).toMatch(/^assent_ac_/);
    });
    expect(wallet.questions).toBe(0);
  });

  it.each([
    ['has no sub', { userInfo: { sub: undefined } }],
    ['is of another user', { userInfo: { sub: 'another', name: 'Mallory', preferred_username: 'mallory' } }],
    ['never comes', { userInfo: null }],
    ['is huge', { huge: { path: '/userinfo', headers: {} } }],
  ])('is the `sub`, and the sign-in succeeds, if userinfo %s', async (_what, replaced) => {
    wallet.replaced = replaced;
    const { sub } = wallet.user;
    expect(await comeBack()).toEqual({ login: sub, name: sub });
    expect(wallet.questions + Number('huge' in replaced)).toBe(1);
  });

  it.each([
    ['179 characters are cut', 'Anna '.repeat(35).trim(), 'Anna '.repeat(20).trim()],
    ['a family is not cut in two', `${'a'.repeat(97)}👩‍👩‍👧bc`, 'a'.repeat(97)],
    ['an accent is not cut off', `${'a'.repeat(99)}x\u0330bc`, 'a'.repeat(99)],
    ['100 letters are kept', `${'я'.repeat(99)}ж`, `${'я'.repeat(99)}ж`],
    ['white space of each kind', ' Anna  \t\u00A0\u2003\u3000\u0085Petrova\uFEFF\n', 'Anna Petrova'],
    ['direction marks are removed', '\u200FAnna \u202APetrova\u202C', 'Anna Petrova'],
    ['a soft hyphen is removed', 'Petro\u00ADva', 'Petrova'],
    ['letters are composed (NFC)', 'Zoe\u0308 И\u0438\u0306', 'Zoë Ий'],
    ['a non-joiner is kept in Persian', 'می\u200cخواهم', 'می\u200cخواهم'],
  ])('is normalized, and cut to its limit between two graphemes: %s', async (_what, name, expected) => {
    wallet.user = { ...wallet.user, name };
    expect((await comeBack()).name).toBe(expected);
  });

  it('and the login come at the next sign-in if userinfo failed at the first, with a line in the log', async () => {
    const { sub } = wallet.user;
    const own = { name: 'Vera Orlova', preferred_username: `vera-${randomUUID()}` };
    server.logLines.length = 0;
    wallet.replaced = { userInfo: { sub: 'another' } };
    expect(await comeBack()).toEqual({ login: sub, name: sub });
    const lines = server.logLines.filter((line) => line.includes('userinfo failed'));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 40 }]);
    const taken = await server.createUser({ login: `vera1-${randomUUID()}` });
    wallet.replaced = { userInfo: { preferred_username: taken.login.replace('vera1', 'veral') } };
    expect((await comeBack()).login).toBe(sub);
    wallet.replaced = { userInfo: own };
    const agent = browser();
    expect(await comeBack(agent)).toEqual({ login: own.preferred_username, name: own.name });
    expect((await agent.get('/oauth/account')).text).toContain(`Vera Orlova (${own.preferred_username})`);
    wallet.replaced = { userInfo: { ...own, preferred_username: 'other' } };
    expect(await comeBack()).toEqual({ login: own.preferred_username, name: own.name });
    expect(await updatesOf(sub)).toEqual([['login', 'name']]);
  });

  it('is updated at each sign-in unless the user is blocked, with an event in the trail; the login stays', async () => {
    const login = `vera-${randomUUID()}`;
    const agent = browser();
    const { sub } = wallet.user;
    wallet.user = { sub, name: 'Vera Orlova', preferred_username: login };
    expect(await comeBack(agent)).toEqual({ login, name: 'Vera Orlova' });
    for (const name of ['Vera Smirnova', 'Vera Smirnova', 'Vera\u00A0 Smirnova ', ' ', 7]) {
      wallet.user = { sub, name, preferred_username: 'other' };
      expect(await comeBack(agent)).toEqual({ login, name: 'Vera Smirnova' });
    }
    await pool.query(`update users set status = 'blocked' where external_id = $1`, [sub]);
    wallet.user = { sub, name: 'Of a blocked user' };
    await goOn(wallet, browser(), '/oauth/account');
    expect(await usersWith(server, { external_id: sub })).toMatchObject([{ name: 'Vera Smirnova' }]);
    expect(await updatesOf(sub)).toEqual([['name']]);
  });
});

describe('a failing provider', () => {
  const refusedAt = async (agent: Agent, path: string) => {
    const answer = await agent.get(path);
    expect([answer.status, answer.page, answer.headers.get('retry-after')]).toEqual([503, 'error', '5']);
    return answer;
  };

  it('affects only sign-in, also if down at the start, and is asked again at the next sign-in', async () => {
    const away = await openWallet();
    await away.down();
    const there = await startServer({ provider: away.settings });
    const agent = new Agent(there.baseUrl);
    expect(await logOf(there, await refusedAt(agent, '/oauth/sign-in'))).toMatchObject({
      rule_id: 'provider',
      rule: expect.stringMatching(/^the OpenID provider does not respond correctly: .*ECONNREFUSED/),
    });
    expect((await agent.get('/health/ready')).status).toBe(200);
    const shop = await there.createClient();
    const exchange = await agent.post('/oauth/token', tokenRequestOf(shop, 'x'));
    expect([exchange.status, JSON.parse(exchange.body).error]).toEqual([400, 'invalid_grant']);
    const counted = readSeries((await agent.get('/metrics')).body);
    expect(counted.get('assent_unavailable_total{reason="provider"}')).toBe(1);
    await away.up();
    expect((await goOn(away, agent, '/oauth/account')).page).toBe('account');

    const left = new Agent(there.baseUrl);
    const callback = await callbackOf(left, await leaveFor(away, left, '/oauth/account'));
    await away.down();
    const answer = await refusedAt(left, callback);
    expect(answer.body).toContain('href="/oauth/sign-in"');
    expect(left.cookies.has('assent_session')).toBe(false);
    expect((await agent.get('/oauth/account')).page).toBe('account');
    await there.close();
  });

  const CHALLENGE = { status: 401, body: '{"error":"invalid_client"}', challenge: 'Basic realm="w"' };

  it.each([
    [503, 'answers 500', { status: 500, body: '{"error":"SECRET"}' }],
    [503, 'has a proxy that answers 502', { status: 502, body: '<h1>SECRET Bad Gateway</h1>' }],
    [503, 'has a proxy that answers 429', { status: 429, body: '<h1>Too Many Requests</h1>' }],
    [503, 'answers temporarily_unavailable', { status: 400, body: '{"error":"temporarily_unavailable"}' }],
    [503, 'never answers', null],
    [400, 'answers an unknown error', { status: 400, body: '{"error":"SECRET of the wallet"}' }],
    [400, 'answers 401 with a challenge', CHALLENGE],
    [400, 'sends broken JSON', { status: 200, body: '{"access_token":"SECRET-1","id_token":"SECRET" oops' }],
    // V8 quotes the text around this fault, but not around the one before.
    [400, 'answers an unquoted value', { status: 200, body: '{"access_token":SECRETvalue}' }],
    [400, 'gives a reason', { status: 401, body: '{"error":"invalid_client","error_description":"SECRET"}' }],
    [400, 'answers an HTML page', { status: 200, body: '<h1>SECRET</h1>' }],
  ])('causes a %s page without the provider’s text if the token URL %s', async (status, _what, token) => {
    const agent = browser();
    const callback = await callbackOf(agent, await leaveFor(wallet, agent, '/oauth/account'));
    wallet.replaced = { token };
    const answer = status === 503 ? await refusedAt(agent, callback) : await agent.get(callback);
    expect([answer.status, answer.page]).toEqual([status, 'error']);
    expect(agent.cookies.has('assent_session')).toBe(false);
    const rule_id = status === 503 ? 'provider' : 'sign_in_failed';
    expect(await logOf(server, answer)).toMatchObject({ rule_id });
    expect(answer.body + server.logLines.join('')).not.toMatch(/SECR/);
  });

  it.each([
    ['/token', {}],
    ['/token', { 'content-encoding': 'gzip' }],
    ['/jwks', {}],
    ['/.well-known/openid-configuration', {}],
  ])('causes a 503 page if its response from %s is too large (headers: %o)', async (path, headers) => {
    await at({}, async (agent) => {
      const callback = path.startsWith('/.well-known')
        ? '/oauth/sign-in'
        : await callbackOf(agent, await leaveFor(wallet, agent, '/oauth/account'));
      wallet.replaced = { huge: { path, headers } };
      expect((await refusedAt(agent, callback)).text).not.toContain('xxx');
    });
  });

  it('causes a 503 page if its metadata have a different issuer', async () => {
    wallet.replaced = { metadata: { issuer: 'https://wallet.example' } };
    await at({}, (agent) => refusedAt(agent, '/oauth/sign-in'));
  });
});
