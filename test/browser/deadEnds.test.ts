import { createServer, request as httpRequest, type Server } from 'node:http';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { launchChromium } from '../support/chromium.ts';
import { requestOf } from '../support/flow.ts';
import { startServer, type TestClient, type TestUser, useServer } from '../support/server.ts';

// What only a browser shows of a dead end: Back, tabs, cookies, reload. The application is on another site.

const server = await useServer();

let application: Server;
let client: TestClient;
let anna: TestUser;
let boris: TestUser;
let browser: Browser;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  application = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('Shop'),
  );
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve));
  const address = application.address();
  const port = typeof address === 'object' ? address?.port : '';
  client = await server.createClient({ name: 'Demo Shop', redirectUri: `http://127.0.0.1:${port}/callback` });
  anna = await server.createUser({ name: 'Anna', paymentPassword: null });
  boris = await server.createUser({ name: 'Boris', paymentPassword: null });
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  application?.close();
});

beforeEach(async () => {
  context = await browser.newContext();
  page = await context.newPage();
});

afterEach(() => context.close());

const request = (fields = {}) =>
  `${server.baseUrl}/oauth/authorize?${new URLSearchParams(requestOf(client, fields))}`;

async function expectPage(name: string, target = page): Promise<void> {
  await target.locator(`main[data-page="${name}"]`).waitFor();
}

async function signIn(user: TestUser, target = page): Promise<void> {
  await target.getByLabel('Login').fill(user.login);
  await target.getByLabel('Password', { exact: true }).fill(user.password);
  await target.getByRole('button', { name: 'Sign in' }).click();
}

async function press(button: 'Allow' | 'Reject', target = page): Promise<void> {
  await target.getByRole('button', { name: button }).click();
}

async function reachConsent(fields: Record<string, string>): Promise<void> {
  await page.goto(request(fields));
  await signIn(anna);
  await expectPage('consent');
}

const note = (target = page) => target.getByRole('status').textContent();

describe('Back after a decision', () => {
  it('says that the request was allowed, and can be allowed once more', async () => {
    await reachConsent({ state: 'allowed' });
    await press('Allow');
    await page.waitForURL(/callback/);
    const [, code] = page.url().split('code=');
    await page.goBack();
    await expectPage('consent');
    expect(await note()).toContain('You have just allowed this request');
    await press('Allow');
    await page.waitForURL(/callback/);
    expect(page.url()).toContain('code=');
    expect(page.url()).not.toContain(code);
  });

  it('says that the request was rejected', async () => {
    await reachConsent({ state: 'rejected' });
    await press('Reject');
    await page.waitForURL(/callback/);
    await page.goBack();
    await expectPage('consent');
    expect(await note()).toContain('You have just rejected this request');
    await page.getByRole('button', { name: 'Русский' }).click();
    await page.locator('html[lang="ru"]').waitFor();
    expect(await note()).toContain('Вы недавно отклонили этот запрос');
  });
});

describe('a second tab', () => {
  it('with the same request finds that it was allowed in the first', async () => {
    await reachConsent({ state: 'tabs' });
    const second = await context.newPage();
    await second.goto(request({ state: 'tabs' }));
    await press('Allow');
    await page.waitForURL(/callback/);
    await press('Reject', second);
    await expectPage('notice', second);
    expect(await second.locator('main').textContent()).toContain('You pressed “Allow” on this page before');
    await second.getByRole('link', { name: 'See your connected applications' }).click();
    await expectPage('account', second);
  });

  it('with another request of the application is shown it afresh, and told why', async () => {
    await reachConsent({ state: 'one', instance_name: 'two tabs' });
    const second = await context.newPage();
    await second.goto(request({ state: 'two', instance_name: 'two tabs' }));
    await press('Allow');
    await page.waitForURL(/callback/);
    await press('Allow', second);
    await second.getByRole('status').waitFor();
    expect(await note(second)).toMatch(/your answer was not accepted.+signed in as Anna/);
    await press('Allow', second);
    await second.waitForURL(/callback/);
  });

  it('in which somebody else signed in decides nothing for them', async () => {
    await reachConsent({ state: 'as Anna' });
    const second = await context.newPage();
    await second.goto(request({ state: 'as Anna' }));
    await second.getByRole('button', { name: 'Sign in as someone else' }).click();
    await expectPage('sign-in', second);
    await signIn(boris, second);
    await expectPage('consent', second);
    await press('Allow');
    await page.getByRole('status').waitFor();
    expect(await note()).toMatch(/your answer was not accepted.+signed in as Boris/);
    await page.goto(`${server.baseUrl}/account`);
    expect(await page.locator('main').textContent()).toContain('No application is connected');
  });

  it('in which the user signed out leads to sign-in, with a word on it, and back', async () => {
    await reachConsent({ state: 'signed out' });
    const second = await context.newPage();
    await second.goto(`${server.baseUrl}/account`);
    await second.getByRole('button', { name: 'Sign out' }).click();
    await expectPage('sign-in', second);
    await press('Allow');
    await expectPage('sign-in');
    expect(await note()).toContain('You were no longer signed in, so your answer was not accepted');
    await signIn(anna);
    await expectPage('consent');
    expect(await page.getByRole('status').count()).toBe(0);
  });
});

describe('cookies', () => {
  it('that are lost cost the password typed again, and the page says so', async () => {
    await page.goto(request({ state: 'lost' }));
    await context.clearCookies();
    await signIn(anna);
    await page.getByRole('status').waitFor();
    expect(await note()).toContain('You are not signed in yet');
    await signIn(anna);
    await expectPage('consent');
  });

  it('that never arrive are what the sign-in page then speaks of', async () => {
    const { url, open, close } = await withoutCookies();
    const behind = await startServer({ baseUrl: url });
    open(behind.baseUrl);
    try {
      const user = await behind.createUser();
      await page.goto(`${url}/account`);
      await signIn(user);
      await page.getByRole('status').waitFor();
      expect(await note()).toContain('Your browser isn’t saving cookies from localhost');
      await expectPage('sign-in');
    } finally {
      close();
      await behind.close();
    }
  });
});

/** What a server sees of a browser that keeps no cookies: a proxy takes them away, since headless Chromium can't be told to. */
async function withoutCookies() {
  let target = '';
  const proxy = createServer((incoming, answer) => {
    const { cookie: _none, ...headers } = incoming.headers;
    const asked = httpRequest(new URL(incoming.url ?? '/', target), {
      method: incoming.method ?? 'GET',
      headers,
    });
    asked.on('response', (response) => {
      const { 'set-cookie': _noneEither, ...kept } = response.headers;
      answer.writeHead(response.statusCode ?? 500, kept);
      response.pipe(answer);
    });
    incoming.pipe(asked);
  });
  await new Promise<void>((resolve) => proxy.listen(0, 'localhost', resolve));
  const address = proxy.address();
  return {
    url: `http://localhost:${typeof address === 'object' ? address?.port : ''}`,
    open: (baseUrl: string) => {
      target = baseUrl;
    },
    close: () => proxy.close(),
  };
}
