import * as cheerio from 'cheerio';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { logOf } from '../../attacks/refusals.ts';
import { fieldsFor, follow, isSignedIn, whileLocked } from '../../support/account.ts';
import { decide, linkTo, reachConsent, requestOf, signIn } from '../../support/flow.ts';
import { Agent, type Answer, formWith } from '../../support/http/agent.ts';
import { newSecret } from '../../support/ledger.ts';
import { useServer } from '../../support/server.ts';
import { setClientStatus } from '../../support/state.ts';

const server = await useServer();
const client = await server.createClient();
const user = await server.createUser({ paymentPassword: null });
const request = (fields = {}) => linkTo(requestOf(client, fields));
const newBrowser = () => new Agent(server.baseUrl);
let browser: Agent;
beforeEach(() => {
  browser = newBrowser();
});

const CROSS_SITE = { 'sec-fetch-site': 'cross-site' };
const ALLOWED = 'You have just allowed this request';
const NOT_ACCEPTED = 'your answer was not accepted';

async function foreignForm(state: string): Promise<Record<string, string>> {
  const other = await server.createUser({ paymentPassword: null });
  const page = await reachConsent(newBrowser(), requestOf(client, { state }), other);
  return { ...formWith(page, 'decision').fields, decision: 'allow' };
}

describe('the result message of a form', () => {
  it('is shown on the page of its request, also on reload and in another language, until the next form succeeds', async () => {
    await reachConsent(browser, requestOf(client), user);
    await browser.post('/oauth/consent', await foreignForm('x'));
    for (let times = 0; times < 2; times += 1) {
      expect((await browser.get(request({ state: 'x' }))).text).toContain(NOT_ACCEPTED);
      expect((await browser.get(request({ state: 'other' }))).text).not.toContain(NOT_ACCEPTED);
    }
    const page = await browser.get(request({ state: 'x' }), { 'accept-language': 'ru' });
    expect(page.text).toContain('ваш ответ не принят');
    await decide(browser, page, 'reject');
    expect((await browser.get(request({ state: 'x' }))).text).not.toContain(NOT_ACCEPTED);
  });

  it('is not shown to the next user of the browser', async () => {
    const consent = await reachConsent(browser, requestOf(client), user);
    await decide(browser, consent, 'allow');
    await browser.post('/oauth/sign-out', fieldsFor(consent, '/oauth/sign-out'));
    const signedOut = (await browser.get(request())).text;
    expect([signedOut.includes('You are signed out.'), signedOut.includes(ALLOWED)]).toEqual([true, false]);
    const other = await server.createUser({ paymentPassword: null });
    const { text } = await reachConsent(browser, requestOf(client), other);
    expect(text).not.toMatch(/You are signed out|You have just allowed this request/);
  });

  it('is not shown for a form from another site (CSRF) [http-forms-1]', async () => {
    await reachConsent(browser, requestOf(client), user);
    const answer = await browser.post('/oauth/consent', await foreignForm('y'), CROSS_SITE);
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([303, []]);
    expect((await browser.get(request({ state: 'y' }))).text).not.toContain(NOT_ACCEPTED);
    const { fields } = formWith(await newBrowser().get(request()), 'login');
    const typed = { ...fields, login: 'mallory', password: 'x' };
    const forged = await newBrowser().post('/oauth/sign-in', typed, CROSS_SITE);
    expect([forged.status, forged.headers.getSetCookie()]).toEqual([303, []]);
    expect(forged.location).not.toContain('cookie=');
  });
});

describe('an error message of a form', () => {
  const ERROR = 'The login or the password is wrong';
  const typed = { login: user.login, password: newSecret() };
  const mistype = async (fields = typed) => browser.submit(await browser.get(request()), 'login', fields);

  it('is shown only at the URL of its page, with the login, until the right password is sent', async () => {
    const answer = await mistype();
    const { pathname, search } = new URL(answer.location ?? '');
    expect([answer.status, pathname, answer.body]).toEqual([303, '/oauth/authorize', '']);
    expect(search).not.toContain(encodeURIComponent(user.login));
    expect(answer.headers.getSetCookie().join()).toMatch(/^assent_outcome=[^;]+; Max-Age=70; /);
    for (let times = 0; times < 2; times += 1) {
      const page = await browser.get(pathname + search);
      expect([page.status, page.text.includes(ERROR)]).toEqual([200, true]);
      expect(page.body).toContain(`value="${user.login}"`);
      expect(page.body).toMatch(/<title>Error: /);
    }
    for (const other of [request({ state: 'other' }), '/oauth/account'])
      expect((await browser.get(other)).text).not.toContain(ERROR);
    await signIn(browser, user.login, user.password);
    expect(browser.cookies.has('assent_outcome')).toBe(false);
    browser.cookies.delete('assent_session');
    expect((await browser.get(pathname + search)).text).not.toContain(ERROR);
  });

  it('expires: the page of a throttled attempt answers 429 until the wait ends, then 200 with the form', async () => {
    const { login } = await server.createUser();
    const answers: Answer[] = [];
    for (let tries = 0; tries < 12 && answers.at(-1)?.status !== 429; tries += 1)
      answers.push(await follow(browser, await mistype({ ...typed, login })));
    const seconds = Number(answers.at(-1)?.headers.get('retry-after'));
    expect([answers[0]?.status, seconds > 0]).toEqual([200, true]);
    vi.useFakeTimers({ now: Date.now() + (seconds + 10) * 1000, toFake: ['Date'] });
    const page = await browser.get(request());
    vi.useRealTimers();
    expect([page.status, page.page, page.body.includes('id="error"')]).toEqual([200, 'sign-in', false]);
  });

  it('omits input that is too long for a cookie', async () => {
    const login = '\u0001'.repeat(3_000);
    const page = await follow(browser, await mistype({ ...typed, login }));
    expect(browser.cookies.get('assent_outcome')?.length).toBeLessThan(200);
    expect([page.text.includes(ERROR), page.body.includes('\u0001')]).toEqual([true, false]);
  });

  it('is ignored if the cookie is forged', async () => {
    await mistype();
    const cookie = browser.cookies.get('assent_outcome') ?? '';
    const [, digest, until] = JSON.parse(Buffer.from(cookie, 'base64url').toString());
    for (const made of [
      ['toString', digest, until],
      [['x'], digest, until, {}],
      ['signIn', digest, 'x'],
      [],
      null,
    ]) {
      browser.cookies.set('assent_outcome', Buffer.from(JSON.stringify(made)).toString('base64url'));
      for (const path of [request(), '/oauth/account']) {
        const { status, body, text } = await browser.get(path);
        expect([status, body.includes('id="error"')]).toEqual([200, false]);
        expect(text).not.toContain('You are not signed in yet');
      }
    }
  });

  it('is logged with its rule, and stored for `assent explain` unless the password was wrong', async () => {
    const wrong = await mistype();
    const line = { path: '/oauth/sign-in', status: 303, rule_id: 'wrong_password' };
    expect(await logOf(server, wrong)).toMatchObject(line);
    await signIn(browser, user.login, user.password);
    const form = await browser.get('/oauth/account/password');
    const weak = await browser.submit(form, 'new_password', { password: user.password, new_password: 'x' });
    const refusals = 'select status, rule_id from refusals where reference = any ($1)';
    const references = [wrong, weak].map(({ headers }) => headers.get('x-request-id'));
    const kept = async () => (await server.database.pool.query(refusals, [references])).rows;
    await expect.poll(kept).toEqual([{ status: 303, rule_id: 'password_refused' }]);
  });
});

const linkOf = ({ body }: Answer) => cheerio.load(body)('main a').attr('href') ?? '';

describe('"Try again"', () => {
  it('shows the request again after Allow failed with 503, and decides nothing by itself', async () => {
    const fields = requestOf(client, { state: 'a b', instance_name: 'undecided' });
    const consent = await reachConsent(browser, fields, user);
    const answer = await whileLocked(server, 'clients', () => decide(browser, consent, 'allow'));
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    const again = await browser.get(linkOf(answer));
    expect(again.page).toBe('consent');
    expect(formWith(again, 'decision').fields.request).toBe(formWith(consent, 'decision').fields.request);
    const russian = await follow(browser, await browser.submit(answer, 'language', { language: 'ru' }));
    expect([russian.page, russian.headers.get('content-language')]).toEqual(['consent', 'ru']);
    const { rows } = await server.database.pool.query(`select from grants where instance_name = 'undecided'`);
    expect(rows).toHaveLength(0);
    expect((await decide(browser, again, 'allow')).status).toBe(302);
  });

  it('keeps only parameters of an authorization request', async () => {
    const fields = requestOf(client, { client_secret: 'by-mistake', note: 'echo-this' });
    const answer = await whileLocked(server, 'clients', () => newBrowser().post('/oauth/authorize', fields));
    expect(answer.status).toBe(503);
    expect(answer.body).not.toMatch(/by-mistake|echo-this/);
    expect((await newBrowser().get(linkOf(answer))).page).toBe('sign-in');
    const carried = { request: `${new URLSearchParams(fields)}`, login: 'x', password: 'y' };
    const form = await whileLocked(server, 'clients', () => newBrowser().post('/oauth/sign-in', carried));
    expect([form.status, form.body]).toEqual([503, expect.not.stringMatching(/by-mistake|echo-this/)]);
  });
});

describe('the sign-in form', () => {
  const credentials = () => ({ login: user.login, password: user.password });

  it('signs in the browser that loaded it, in any of its tabs', async () => {
    const first = await browser.get(request());
    const second = await browser.get(request({ state: 'another tab' }));
    expect(second.headers.getSetCookie()).toEqual([]); // one cookie for the whole visit
    expect((await browser.submit(first, 'login', credentials())).status).toBe(303);
    expect(await isSignedIn(browser)).toBe(true);
    expect((await browser.submit(second, 'login', credentials())).location).toContain('another%20tab');
  });

  it('refuses the token of another browser (login CSRF) [http-forms-2]', async () => {
    const [stranger, victim] = [newBrowser(), newBrowser()];
    const { action, fields } = formWith(await stranger.get(request()), 'login');
    await victim.get(request());
    expect((await victim.post(action, { ...fields, ...credentials() })).status).toBe(303);
    expect(await isSignedIn(victim)).toBe(false);
  });

  it.each([
    ['signs the user in four days after it was loaded', 4, true],
    ['is refused eight days after it was loaded, and shown again', 8, false],
  ])('%s', async (_what, days, signsIn) => {
    const page = await browser.get(request());
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + days * 24 * 60 * 60 * 1000 });
    onTestFinished(() => void vi.useRealTimers());
    expect((await browser.submit(page, 'login', credentials())).status).toBe(303);
    expect(await isSignedIn(browser)).toBe(signsIn);
  });
});

describe('a form from another site', () => {
  const ELSEWHERE = [
    CROSS_SITE,
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
  ];

  it.each(ELSEWHERE)('signs no user in: %j', async (headers) => {
    const { action, fields } = formWith(await browser.get(request()), 'login');
    const { login, password } = user;
    await browser.post(action, { ...fields, login, password }, headers);
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('is accepted as an authorization request, whatever its origin', async () => {
    for (const headers of ELSEWHERE) {
      const answer = await newBrowser().post('/oauth/authorize', requestOf(client), headers);
      expect([answer.status, answer.location?.includes('/oauth/authorize?')]).toEqual([303, true]);
    }
  });
});

describe('the refusal of pages in frames, or requested by scripts', () => {
  const PLACES = ['iframe', 'frame', 'embed', 'object', 'fencedframe', 'empty', 'image', 'script'];

  it.each(PLACES)('asks the user to open the page in the browser: Sec-Fetch-Dest %s', async (place) => {
    await reachConsent(browser, requestOf(client), user);
    const headers = { 'sec-fetch-dest': place };
    for (const answer of [
      await browser.get(request(), headers),
      await browser.post('/oauth/authorize', requestOf(client), headers),
      await browser.get('/oauth/account', headers),
    ]) {
      expect([answer.status, answer.page]).toEqual([403, 'notice']);
      expect(answer.forms.map(({ action }) => action)).toEqual(['/oauth/language']);
      expect(answer.headers.get('x-frame-options')).toBe('DENY');
    }
  });

  it('does not affect top-level documents and the token endpoint', async () => {
    const page = await newBrowser().get('/oauth/account', { 'sec-fetch-dest': 'document' });
    expect([page.status, page.page]).toEqual([200, 'sign-in']);
    const answer = await newBrowser().post('/oauth/token', {}, { 'sec-fetch-dest': 'empty' });
    expect([answer.status, JSON.parse(answer.body).error]).toEqual([400, 'invalid_request']);
  });
});

describe('in trial mode', async () => {
  const trial = await useServer({ showsRules: true });
  const shop = await trial.createClient();

  const foldOf = ({ body }: Answer) => cheerio.load(body)('details').text().replaceAll(/\s+/g, ' ').trim();

  const MARK = '<img src=x onerror=alert(1)>';
  it.each([
    ['redirect_uri', MARK, 'differs from the registered one at character 1', 'Ask the service'],
    ['scope', MARK, 'expected the name of a right', 'docs/integrate/scopes.md'],
    ['scope', 'account-info profile', 'profile is only for OpenID providers', 'Remove openid, profile and'],
  ])('an error page shows the exact rule and the remedy: %s=%s', async (name, value, rule, remedy) => {
    const agent = new Agent(trial.baseUrl, { 'accept-language': 'ru' });
    const answer = await agent.post('/oauth/authorize', requestOf(shop, { [name]: value }));
    for (const part of ['Подробности для разработчиков', rule, remedy])
      expect(foldOf(answer)).toContain(part);
    expect(answer.body).not.toContain('onerror');
  });

  it('an error page names no operators’ commands, which its readers can’t run', async () => {
    const blocked = await trial.createClient();
    await setClientStatus(trial, blocked, 'blocked');
    for (const [client, fields, rule] of [
      [blocked, {}, 'the client is blocked'],
      [shop, { redirect_uri: 'https://elsewhere.example/' }, 'differs from the registered one'],
      [shop, { scope: 'account-info rights-of-a-newer-build' }, 'rights-of-a-newer-build'],
    ] as const) {
      const answer = await new Agent(trial.baseUrl).post('/oauth/authorize', requestOf(client, fields));
      expect(foldOf(answer)).toContain(rule);
      expect(foldOf(answer)).not.toMatch(/\bassent [a-z]|[A-Z]_[A-Z]|docs\/operate/);
    }
  });

  it.each(['/nowhere', '/%zz', '/oauth/consent'])('developer details are also shown at %s', async (path) => {
    expect(foldOf(await new Agent(trial.baseUrl).get(path))).toMatch(/Details for developers .+\./);
  });
});
