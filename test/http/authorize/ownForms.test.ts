import { beforeAll, describe, expect, it, vi } from 'vitest';
import { isSignedIn } from '../../support/account.ts';
import { reachConsent, requestOf } from '../../support/flow.ts';
import { Agent, type Answer, formWith } from '../../support/http/agent.ts';
import { useServer } from '../../support/server.ts';

// Every form of ours belongs to the browser it was shown to and to what it is about: what does not fit changes nothing.
const server = await useServer();

const client = await server.createClient();
const user = await server.createUser({ paymentPassword: null });

function newBrowser(): Agent {
  return new Agent(server.baseUrl);
}

async function open(browser: Agent, fields = {}): Promise<Answer> {
  const { location } = await browser.post('/oauth/authorize', requestOf(client, fields));
  return browser.get(location ?? '');
}

describe('the sign-in form', () => {
  const credentials = () => ({ login: user.login, password: user.password });

  it('signs in the browser that loaded it, in any of its tabs', async () => {
    const browser = newBrowser();
    const [first, second] = [await open(browser), await open(browser, { state: 'another tab' })];
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
    try {
      const answer = await browser.submit(page, 'login', credentials());
      expect([answer.status, await isSignedIn(browser)]).toEqual([303, signsIn]);
      if (!signsIn) expect((await browser.get(answer.location ?? '')).page).toBe('sign-in');
    } finally {
      vi.useRealTimers();
    }
  });

  it('stays valid for a whole visit: one cookie for any number of pages', async () => {
    const browser = newBrowser();
    await open(browser);
    const visit = browser.cookies.get('assent_visit');
    expect((await open(browser, { state: 'x' })).headers.getSetCookie()).toEqual([]);
    expect(browser.cookies.get('assent_visit')).toBe(visit);
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

  const browser = newBrowser();

  beforeAll(async () => {
    await reachConsent(browser, requestOf(client), user);
  });

  it.each(PLACES)('asks the user to open the browser: %s', async (place) => {
    const headers = { 'sec-fetch-dest': place };
    const { location } = await browser.post('/oauth/authorize', requestOf(client));
    for (const answer of [
      await browser.get(location ?? '', headers),
      await browser.post('/oauth/authorize', requestOf(client), headers),
      await browser.get('/account', headers),
    ]) {
      expect([answer.status, answer.page]).toEqual([403, 'notice']);
      expect(answer.text).toContain('Open this in your browser');
      expect(answer.forms.map(({ action }) => action)).toEqual(['/language']);
      expect(answer.headers.get('x-frame-options')).toBe('DENY');
    }
  });

  it('is shown normally when opened by a browser or by a program', async () => {
    for (const headers of [{ 'sec-fetch-dest': 'document' }, {}] as Record<string, string>[]) {
      const answer = await newBrowser().get('/account', headers);
      expect([answer.status, answer.page]).toEqual([200, 'sign-in']);
    }
  });

  it('does not affect the endpoints for programs', async () => {
    const answer = await newBrowser().post('/oauth/token', {}, { 'sec-fetch-dest': 'empty' });
    expect([answer.status, JSON.parse(answer.body).error]).toEqual([400, 'invalid_request']);
  });
});
