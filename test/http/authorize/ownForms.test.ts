import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { isSignedIn } from '../../support/account.ts';
import { linkTo, reachConsent, requestOf } from '../../support/flow.ts';
import { Agent, formWith } from '../../support/http/agent.ts';
import { useServer } from '../../support/server.ts';

const server = await useServer();

const client = await server.createClient();
const user = await server.createUser({ paymentPassword: null });

const newBrowser = () => new Agent(server.baseUrl);
const open = (browser: Agent, fields = {}) => browser.get(linkTo(requestOf(client, fields)));

describe('the sign-in form', () => {
  const credentials = () => ({ login: user.login, password: user.password });

  it('signs in the browser that loaded it, in any of its tabs', async () => {
    const browser = newBrowser();
    const [first, second] = [await open(browser), await open(browser, { state: 'another tab' })];
    expect(second.headers.getSetCookie()).toEqual([]); // one cookie for the whole visit
    expect((await browser.submit(first, 'login', credentials())).status).toBe(303);
    expect(await isSignedIn(browser)).toBe(true);
    expect((await browser.submit(second, 'login', credentials())).location).toContain('another%20tab');
  });

  it('refuses the token of another browser (login CSRF)', async () => {
    const [stranger, victim] = [newBrowser(), newBrowser()];
    const { action, fields } = formWith(await open(stranger), 'login');
    await open(victim);
    expect((await victim.post(action, { ...fields, ...credentials() })).status).toBe(303);
    expect(await isSignedIn(victim)).toBe(false);
  });

  it.each([
    ['signs in after a night, and after a holiday weekend', 4, true],
    ['is shown afresh when it was open for more than a week', 8, false],
  ])('%s', async (_what, days, signsIn) => {
    const browser = newBrowser();
    const page = await open(browser);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + days * 24 * 60 * 60 * 1000 });
    onTestFinished(() => void vi.useRealTimers());
    expect((await browser.submit(page, 'login', credentials())).status).toBe(303);
    expect(await isSignedIn(browser)).toBe(signsIn);
  });
});

describe('a form from another site', () => {
  const ELSEWHERE = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
  ];

  it.each(ELSEWHERE)('signs no user in: %j', async (headers) => {
    const browser = newBrowser();
    const { action, fields } = formWith(await open(browser), 'login');
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

describe('a page in a frame, or requested by a script', () => {
  const PLACES = ['iframe', 'frame', 'embed', 'object', 'fencedframe', 'empty', 'image', 'script'];

  it.each(PLACES)('asks the user to open the browser: %s', async (place) => {
    const browser = newBrowser();
    await reachConsent(browser, requestOf(client), user);
    const headers = { 'sec-fetch-dest': place };
    for (const answer of [
      await browser.get(linkTo(requestOf(client)), headers),
      await browser.post('/oauth/authorize', requestOf(client), headers),
      await browser.get('/account', headers),
    ]) {
      expect([answer.status, answer.page]).toEqual([403, 'notice']);
      expect(answer.forms.map(({ action }) => action)).toEqual(['/language']);
      expect(answer.headers.get('x-frame-options')).toBe('DENY');
    }
  });

  it('does not affect a document, nor the endpoints for programs', async () => {
    const page = await newBrowser().get('/account', { 'sec-fetch-dest': 'document' });
    expect([page.status, page.page]).toEqual([200, 'sign-in']);
    const answer = await newBrowser().post('/oauth/token', {}, { 'sec-fetch-dest': 'empty' });
    expect([answer.status, JSON.parse(answer.body).error]).toEqual([400, 'invalid_request']);
  });
});
