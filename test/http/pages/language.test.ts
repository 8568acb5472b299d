import { describe, expect, it } from 'vitest';
import { follow } from '../../support/account.ts';
import { linkTo, reachConsent, requestOf } from '../../support/flow.ts';
import { Agent, formWith } from '../../support/http/agent.ts';
import { useServer } from '../../support/server.ts';

const server = await useServer();
const client = await server.createClient();
const user = await server.createUser();

const RUSSIAN = { 'accept-language': 'ru-RU,ru;q=0.9,en;q=0.8' };

/** A browser that is set to Russian. */
const russian = () => new Agent(server.baseUrl, RUSSIAN);
const heading = (body: string) => /<h1>(.*?)<\/h1>/.exec(body)?.[1]?.replaceAll(/<\/?bdi>/g, '');

describe('the language of a page', () => {
  it('is the preferred one of the browser', async () => {
    const page = await russian().get('/account');
    expect(page.headers.get('content-language')).toBe('ru');
    expect([page.body.includes('<html lang="ru">'), heading(page.body)]).toEqual([true, 'Вход в «Assent»']);
    expect(heading((await new Agent(server.baseUrl).get('/account')).body)).toBe('Sign in to Assent');
  });

  it('is Russian in the flow, with Russian amounts and dates', async () => {
    const browser = russian();
    const page = await reachConsent(
      browser,
      requestOf(client, { scope: 'payment-shop.limit(21,1234.5)' }),
      user,
    );
    expect(page.text).toMatch(
      /Платить любым магазинам до 1 234,50 ₽ за любые 21 день, до \d+ \p{Script=Cyrillic}+ \d{4} г\./u,
    );
    expect(page.text).not.toMatch(/[A-Za-z]{12}/);
  });

  it('is the one that the application requests on every page of its request, unless the user chose another', async () => {
    const query = new URLSearchParams(requestOf(client, { ui_locales: 'de-AT ru-RU en' }));
    const browser = new Agent(server.baseUrl);
    const asked = await browser.get(`/oauth/authorize?${query}`);
    expect(heading(asked.body)).toBe('Вход в «Assent»');
    const typed = { login: user.login, password: 'wrong' };
    const wrong = await follow(browser, await browser.submit(asked, 'login', typed));
    expect([wrong.text.includes('Неверный логин'), heading(wrong.body)]).toEqual([true, 'Вход в «Assent»']);
    const { login, password } = user;
    const { location } = await browser.submit(wrong, 'login', { login, password });
    const consent = await browser.get(location ?? '');
    expect([consent.page, consent.headers.get('content-language')]).toEqual(['consent', 'ru']);
    await browser.submit(consent, 'language', { language: 'en' });
    expect((await browser.get(location ?? '')).headers.get('content-language')).toBe('en');
    const none = new URLSearchParams(requestOf(client, { ui_locales: 'de' }));
    expect(heading((await russian().get(`/oauth/authorize?${none}`)).body)).toBe('Вход в «Assent»');
  });

  it('is the one that the application requests on error pages too, by GET and by POST', async () => {
    const wrong = { ...requestOf(client), scope: 'nonsense' };
    const asking = { ...wrong, ui_locales: 'ru' };
    const browser = new Agent(server.baseUrl);
    const languages = [
      await browser.post('/oauth/authorize', asking),
      await browser.get(linkTo(asking)),
      await browser.get(linkTo({ ...wrong, state: 'a?ui_locales=ru' })),
    ].map(({ status, headers }) => [status, headers.get('content-language')]);
    expect(languages).toEqual([
      [400, 'ru'],
      [400, 'ru'],
      [400, 'en'],
    ]);
  });

  it.each([
    ['twice', '&ui_locales=ru&ui_locales=en'],
    ['undecodably', '&ui_locales=%00'],
    ['at length', `&ui_locales=${'ru+'.repeat(2000)}`],
  ])('may be requested as %s, without an error', async (_how, more) => {
    const query = `${new URLSearchParams(requestOf(client))}${more}`;
    const page = await new Agent(server.baseUrl).post('/oauth/authorize', query);
    expect([page.status, page.location?.includes('ui_locales') ?? false]).toEqual([303, false]);
  });

  it('is English in JSON, whatever the caller prefers', async () => {
    const { body } = await russian().post('/oauth/token', { grant_type: 'authorization_code' });
    expect(JSON.parse(body)).toMatchObject({ error: 'invalid_request', error_description: /^[\x20-\x7e]+$/ });
  });
});

describe('the language form', () => {
  it('returns to the same page, and stores the choice', async () => {
    const browser = new Agent(server.baseUrl);
    const query = new URLSearchParams(requestOf(client, { state: 'a b' }));
    const page = await browser.get(`/oauth/authorize?${query}`);
    const answer = await browser.submit(page, 'language', { language: 'ru' });
    expect(answer.status).toBe(303);
    const again = await browser.get(answer.location ?? '');
    expect(heading(again.body)).toBe('Вход в «Assent»');
    expect(formWith(again, 'login').fields.request).toBe(formWith(page, 'login').fields.request);
    const cookie = answer.headers.getSetCookie().join();
    expect(cookie).toMatch(/assent_language=ru; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax/);
    expect(heading((await browser.get('/account')).body)).toBe('Вход в «Assent»');
  });

  it('stores the choice with the user, for browsers without their own', async () => {
    const owner = await server.createUser();
    const asked = requestOf(client, { ui_locales: 'en' });
    const languageIn = async (browser: Agent, fields = requestOf(client)) => {
      const page = await reachConsent(browser, fields, owner);
      return page.headers.get('content-language');
    };
    const first = new Agent(server.baseUrl);
    expect(await languageIn(first)).toBe('en');
    await first.submit(await first.get('/account'), 'language', { language: 'ru' });
    const elsewhere = new Agent(server.baseUrl);
    expect(await languageIn(elsewhere, asked)).toBe('ru');
    const chosen = new Agent(server.baseUrl);
    await chosen.submit(await chosen.get('/account'), 'language', { language: 'en' });
    expect(await languageIn(chosen)).toBe('en');
    // Another user of that browser may have chosen it, until the user does while signed in.
    expect(await languageIn(new Agent(server.baseUrl))).toBe('ru');
    await chosen.submit(await chosen.get('/account'), 'language', { language: 'en' });
    expect(await languageIn(new Agent(server.baseUrl, RUSSIAN))).toBe('en');
    expect(await languageIn(elsewhere)).toBe('ru'); // until the next choice here
  });

  it('does not give the choice of the previous user of the browser to the next user', async () => {
    const [one, other] = [await server.createUser(), await server.createUser()];
    const first = new Agent(server.baseUrl);
    await first.submit(await first.get('/account'), 'language', { language: 'ru' });
    await reachConsent(first, requestOf(client), one);
    const shared = new Agent(server.baseUrl);
    await reachConsent(shared, requestOf(client), one);
    shared.cookies.delete('assent_session');
    const shown = await reachConsent(shared, requestOf(client), other);
    expect(shown.headers.get('content-language')).toBe('en');
    const page = await reachConsent(new Agent(server.baseUrl), requestOf(client), other);
    expect(page.headers.get('content-language')).toBe('en');
  });

  it('forgets the choice with the user who made it and signs out', async () => {
    const owner = await server.createUser();
    const first = new Agent(server.baseUrl);
    await first.submit(await first.get('/account'), 'language', { language: 'ru' });
    await reachConsent(first, requestOf(client), owner);
    const shared = new Agent(server.baseUrl);
    await reachConsent(shared, requestOf(client), owner);
    const account = await shared.get('/account');
    expect(account.headers.get('content-language')).toBe('ru');
    await shared.post('/sign-out', account.forms.find(({ action }) => action === '/sign-out')?.fields ?? {});
    expect(heading((await shared.get('/account')).body)).toBe('Sign in to Assent');
  });

  it.each([
    ['a contradiction', 'account-info account-info', '', 'противоречат'],
    ['a doubled parameter', 'account-info', '&scope=account-info', 'повторяется'],
  ])('returns from %s to the same error', async (_what, scope, more, said) => {
    const browser = new Agent(server.baseUrl);
    const wrong = `${new URLSearchParams(requestOf(client, { scope }))}${more}`;
    const page = await browser.post('/oauth/authorize', wrong);
    const again = await follow(browser, await browser.submit(page, 'language', { language: 'ru' }));
    expect([again.status, again.page, again.text.includes(said)]).toEqual([400, 'error', true]);
  });

  it.each([
    'https://evil.example/',
    '//evil.example',
    '@evil.example',
    '.evil.example',
    '\\evil',
    '/a\r\nb: c',
    '',
  ])('redirects nowhere else: %j', async (back) => {
    const fields = { language: 'ru', back: Buffer.from(back).toString('base64url') };
    const { location } = await new Agent(server.baseUrl).post('/language', fields);
    expect(new URL(location ?? '').origin).toBe(server.baseUrl);
  });

  it('ignores other sites and unknown languages', async () => {
    const browser = new Agent(server.baseUrl);
    await browser.post('/language', { language: 'ru' }, { 'sec-fetch-site': 'cross-site' });
    await browser.post('/language', { language: 'constructor' });
    expect(browser.cookies.size).toBe(0);
  });
});
