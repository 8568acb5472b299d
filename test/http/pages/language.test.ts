import { describe, expect, it } from 'vitest';
import { fieldsFor, follow } from '../../support/account.ts';
import { linkTo, reachConsent, requestOf } from '../../support/flow.ts';
import { Agent, formWith } from '../../support/http/agent.ts';
import { type TestUser, useServer } from '../../support/server.ts';

const server = await useServer();
const client = await server.createClient();
const user = await server.createUser();

const RUSSIAN = { 'accept-language': 'ru-RU,ru;q=0.9,en;q=0.8' };

const russian = () => new Agent(server.baseUrl, RUSSIAN);
const heading = (body: string) => /<h1>(.*?)<\/h1>/.exec(body)?.[1]?.replaceAll(/<\/?bdi>/g, '');

describe('the language of a page', () => {
  it('is the requested one on every page of an authorization, unless the user chose another', async () => {
    const browser = new Agent(server.baseUrl);
    const asked = await browser.get(linkTo(requestOf(client, { ui_locales: 'de-AT ru-RU en' })));
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
    const none = await russian().get(linkTo(requestOf(client, { ui_locales: 'de' })));
    expect(heading(none.body)).toBe('Вход в «Assent»');
  });

  it('is the requested one on error pages too, by GET and by POST', async () => {
    const wrong = { ...requestOf(client), scope: 'nonsense' };
    const asking = { ...wrong, ui_locales: 'ru' };
    const browser = new Agent(server.baseUrl);
    const languages = [
      await browser.post('/oauth/authorize', asking),
      await browser.get(linkTo(asking)),
      await browser.get(linkTo({ ...wrong, state: 'a?ui_locales=ru' })),
    ].map(({ status, headers }) => `${status} ${headers.get('content-language')}`);
    expect(languages).toEqual(['400 ru', '400 ru', '400 en']);
  });

  it.each([
    ['twice', '&ui_locales=ru&ui_locales=en'],
    ['with an undecodable value', '&ui_locales=%00'],
    ['with a very long value', `&ui_locales=${'ru+'.repeat(2000)}`],
  ])('causes no error if ui_locales is sent %s', async (_how, more) => {
    const query = `${new URLSearchParams(requestOf(client))}${more}`;
    const page = await new Agent(server.baseUrl).post('/oauth/authorize', query);
    expect([page.status, page.location?.includes('ui_locales') ?? false]).toEqual([303, false]);
  });
});

describe('the language form', () => {
  it('returns to the same page, and stores the choice', async () => {
    const browser = new Agent(server.baseUrl);
    const page = await browser.get(linkTo(requestOf(client, { state: 'a b' })));
    const answer = await browser.submit(page, 'language', { language: 'ru' });
    expect(answer.status).toBe(303);
    const again = await browser.get(answer.location ?? '');
    expect(heading(again.body)).toBe('Вход в «Assent»');
    expect(formWith(again, 'login').fields.request).toBe(formWith(page, 'login').fields.request);
    const cookie = answer.headers.getSetCookie().join();
    expect(cookie).toMatch(/assent_language=ru; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax/);
    expect(heading((await browser.get('/oauth/account')).body)).toBe('Вход в «Assent»');
  });

  async function russianUser(): Promise<TestUser> {
    const [owner, browser] = [await server.createUser(), new Agent(server.baseUrl)];
    await choose(browser, 'ru');
    await languageFor(owner, browser);
    return owner;
  }

  const choose = async (browser: Agent, language: string) =>
    browser.submit(await browser.get('/oauth/account'), 'language', { language });

  const languageFor = async (owner: TestUser, browser = new Agent(server.baseUrl), fields = {}) =>
    (await reachConsent(browser, requestOf(client, fields), owner)).headers.get('content-language');

  it('stores the choice for the user, and applies it in browsers without a choice of their own', async () => {
    const owner = await russianUser();
    const elsewhere = new Agent(server.baseUrl);
    expect(await languageFor(owner, elsewhere, { ui_locales: 'en' })).toBe('ru');
    const chosen = new Agent(server.baseUrl);
    await choose(chosen, 'en');
    expect(await languageFor(owner, chosen)).toBe('en');
    // Another user of that browser may have chosen it, until the user does while signed in.
    expect(await languageFor(owner)).toBe('ru');
    await choose(chosen, 'en');
    expect(await languageFor(owner, russian())).toBe('en');
    expect(await languageFor(owner, elsewhere)).toBe('ru'); // until the next choice here
  });

  it('does not apply a user’s choice to the next user of the browser, and forgets it at sign-out', async () => {
    const [owner, other] = [await russianUser(), await server.createUser()];
    const shared = new Agent(server.baseUrl);
    expect(await languageFor(owner, shared)).toBe('ru');
    shared.cookies.delete('assent_session');
    expect(await languageFor(other, shared)).toBe('en');
    expect(await languageFor(other)).toBe('en');
    const left = new Agent(server.baseUrl);
    expect(await languageFor(owner, left)).toBe('ru');
    await left.post('/oauth/sign-out', fieldsFor(await left.get('/oauth/account'), '/oauth/sign-out'));
    expect(heading((await left.get('/oauth/account')).body)).toBe('Sign in to Assent');
  });

  it.each([
    ...['https://evil.example/', '//evil.example', '@evil.example', '.evil.example', '\\evil'],
    ...['/a\r\nb: c', ''],
  ])('redirects only within Assent: %j', async (back) => {
    const fields = { language: 'ru', back: Buffer.from(back).toString('base64url') };
    const { location } = await new Agent(server.baseUrl).post('/oauth/language', fields);
    expect(new URL(location ?? '').origin).toBe(server.baseUrl);
  });

  it('ignores forms from other sites and unknown languages', async () => {
    const browser = new Agent(server.baseUrl);
    await browser.post('/oauth/language', { language: 'ru' }, { 'sec-fetch-site': 'cross-site' });
    await browser.post('/oauth/language', { language: 'constructor' });
    expect(browser.cookies.size).toBe(0);
  });
});
