import { createServer, type Server } from 'node:http';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { launchChromium } from '../support/chromium.ts';
import { makeDataDir, removeDataDir } from '../support/folder.ts';
import type { ServerProcess } from '../support/process.ts';
import { noteCookie } from '../support/traffic.ts';
import { type Credentials, credentials, freePair, startTrial } from '../support/trial.ts';

// A real browser, the real server, and the demo application on another site: 127.0.0.1 against localhost.

let dataDir: string;
let server: ServerProcess;
let demo: Credentials;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  dataDir = makeDataDir();
  [server, browser] = await Promise.all([
    freePair().then((port) => startTrial({ PORT: String(port), DATA_DIR: dataDir })),
    launchChromium(),
  ]);
  demo = credentials(server);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  removeDataDir(dataDir);
});

beforeEach(async () => {
  await open({});
});

afterEach(async () => {
  for (const { name, value } of await context.cookies()) noteCookie(`${name}=${value}`);
  await context.close();
  expect(complaints).toEqual([]);
});

/** Opens the card of every application; one alone is open. */
async function openAll(): Promise<void> {
  for (const card of await page.locator('.card:not([open]) > summary').all()) await card.click();
}

async function open(options: Parameters<Browser['newContext']>[0]): Promise<void> {
  context = await browser.newContext(options);
  page = await context.newPage();
  complaints = [];
  // A blocked style, frame or form says so here: nothing of ours may break our own policy.
  page.on('console', (message) => {
    if (/content security policy|refused to/i.test(message.text())) complaints.push(message.text());
  });
}

/** Waits until one of our pages is shown. */
async function expectPage(name: string, target: Page = page): Promise<void> {
  await target.locator(`main[data-page="${name}"]`).waitFor();
}

/** What a person reads on the page, with every kind of space as one. */
async function read(target: Page = page): Promise<string> {
  return ((await target.locator('main').textContent()) ?? '').replaceAll(/\s+/g, ' ');
}

async function ask(fields: { scope?: string; instance?: string } = {}): Promise<void> {
  await page.goto(demo.open);
  if (fields.scope !== undefined) await page.locator('[name=scope]').fill(fields.scope);
  if (fields.instance !== undefined) await page.locator('[name=instance_name]').fill(fields.instance);
  await page.getByRole('button', { name: 'Connect my account' }).click();
  await page.getByRole('button', { name: 'Send it' }).click();
  await page.waitForURL(`${server.baseUrl}/**`);
}

async function signIn(): Promise<void> {
  await page.getByLabel('Login').fill(demo.login);
  await page.getByLabel('Password', { exact: true }).fill(demo.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('main[data-page]:not([data-page="sign-in"])').waitFor();
}

async function confirmPayment(): Promise<void> {
  await page.getByLabel('Payment password').fill(demo.payment);
  await page.getByRole('button', { name: 'Continue' }).click();
  await expectPage('consent');
}

/** Presses a button of the consent page and waits until the application shows what came of it. @returns the answer's address */
async function decide(button: 'Allow' | 'Reject'): Promise<string> {
  const answered = page.waitForRequest(/\/callback\?/);
  await page.getByRole('button', { name: button }).click();
  await page.waitForURL(/\/story/);
  return (await answered).url();
}

const accessToken = () => page.locator('#access-token').textContent();

describe('who does not want this, in a browser', () => {
  it.each([true, false])(
    'rejects without the payment password, by keyboard (with scripts: %s)',
    async (javaScriptEnabled) => {
      await context.close();
      await open({ javaScriptEnabled });
      await ask();
      await signIn();
      await expectPage('payment-password');
      await page.getByLabel('Payment password').focus();
      await page.keyboard.type('half of it');
      const buttons = javaScriptEnabled ? ['Show password', 'Reject', 'Continue'] : ['Reject', 'Continue'];
      for (const name of buttons) {
        await page.keyboard.press('Tab');
        await page.locator(':focus').and(page.getByRole('button', { name })).waitFor();
      }
      await page.keyboard.press('Shift+Tab');
      const posted = page.waitForRequest((request) => request.method() === 'POST');
      await page.keyboard.press('Enter');
      expect((await posted).url()).toBe(`${server.baseUrl}/reject`);
      expect((await posted).postData()).not.toContain('half');
      await expectPage('reject');
      expect(await decide('Reject')).toMatch(
        new RegExp(`^${demo.open}/callback\\?state=.+&error=access_denied$`),
      );
    },
  );

  it('sees the request again by Back, with what was answered, and Enter in the field confirms', async () => {
    await ask();
    await signIn();
    await page.getByRole('button', { name: 'Reject' }).click();
    await expectPage('reject');
    await page.reload();
    await decide('Reject');
    await page.goBack();
    await expectPage('payment-password');
    expect(await read()).toContain('You have just rejected this request');
    await page.getByLabel('Payment password').fill(demo.payment);
    await page.keyboard.press('Enter');
    await expectPage('consent');
  });
});

describe('the whole authorization in a browser', () => {
  it('leads from the application over sign-in, payment password and consent to an access token', async () => {
    await ask({ instance: 'dana@shop' });
    await expectPage('sign-in');
    await signIn();
    await expectPage('payment-password');
    await confirmPayment();
    await expectPage('consent');
    const text = await read();
    for (const part of [
      'Demo Shop',
      'dana@shop',
      'Pay any shop',
      'At most RUB 5,000 in any 7 days',
      'your wallet or your linked card',
    ]) {
      expect(text).toContain(part);
    }
    const answer = await decide('Allow');
    expect(answer).toMatch(new RegExp(`^${demo.open}/callback\\?state=.+&code=assent_ac_`));
    expect(await accessToken()).toMatch(/^assent_at_/);
  });

  it('works without JavaScript, by keyboard alone', async () => {
    await context.close();
    await open({ javaScriptEnabled: false });
    await ask({ scope: 'account-info' });
    await page.locator('[name=login]:focus').waitFor(); // the page gave it the focus
    await page.keyboard.type(demo.login);
    await page.keyboard.press('Tab');
    await page.keyboard.type(demo.password);
    await page.keyboard.press('Enter');
    await expectPage('consent');
    for (let tabs = 0; tabs < 10; tabs += 1) {
      await page.keyboard.press('Tab');
      if (await page.getByRole('button', { name: 'Allow' }).and(page.locator(':focus')).count()) break;
    }
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/story/);
    expect(await accessToken()).toMatch(/^assent_at_/);
  });

  it('sends access_denied when the user rejects', async () => {
    await ask({ scope: 'account-info' });
    await signIn();
    const answer = await decide('Reject');
    expect(answer).toMatch(/callback\?state=[^&]+&error=access_denied$/);
    expect(await page.locator('h1').textContent()).toBe('You rejected the request');
  });

  it('keeps the session although the next request is a form post from another site', async () => {
    await ask({ scope: 'account-info' });
    await signIn();
    await ask({ scope: 'account-info operation-history' });
    await expectPage('consent');
  });

  it('says what an earlier authorization was, and that allowing disconnects it', async () => {
    await ask({ scope: 'operation-details', instance: 'again' });
    await signIn();
    await decide('Allow');
    await ask({ scope: 'account-info', instance: 'again' });
    const text = await read();
    expect(text).toContain('it replaces the access that you gave Demo Shop');
    expect(text).toContain('See the details of each transaction');
  });

  it('gives the application one code when Allow is clicked twice at once', async () => {
    await ask({ scope: 'account-info', instance: 'twice' });
    await signIn();
    await page.getByRole('button', { name: 'Allow' }).dblclick();
    await page.waitForURL(/\/story/);
    expect(await accessToken()).toMatch(/^assent_at_/);
  });

  it('can be reloaded, gone back to and opened in a second tab', async () => {
    await ask({ scope: 'account-info', instance: 'tabs' });
    const request = page.url();
    await page.reload();
    await expectPage('sign-in');
    await signIn();
    const second = await context.newPage();
    await second.goto(request);
    await expectPage('consent', second);
    await decide('Allow');
    await page.goBack();
    await expectPage('consent');
    // The same page was allowed in the first tab, and its code is used: nothing is decided again.
    await second.getByRole('button', { name: 'Allow' }).click();
    await expectPage('notice', second);
    expect(await read(second)).toContain('You already allowed this');
  });

  it('shows a wrong password with the form, and keeps the login', async () => {
    await ask();
    await page.getByLabel('Login').fill(demo.login);
    await page.getByLabel('Password', { exact: true }).fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('wrong');
    expect(await page.getByLabel('Login').inputValue()).toBe(demo.login);
    await signIn();
    await page.getByLabel('Payment password').fill('wrong');
    await page.getByRole('button', { name: 'Continue' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('wrong');
    await confirmPayment();
    await expectPage('consent');
  });

  it('lets the user disconnect an application, sign out, and be somebody else', async () => {
    await ask({ scope: 'account-info', instance: 'to disconnect' });
    await signIn();
    await decide('Allow');
    await page.goto(`${server.baseUrl}/account`);
    await openAll();
    const connection = page.locator('.connection', { hasText: 'to disconnect' });
    await connection.getByText('Disconnect', { exact: true }).click();
    expect(await connection.textContent()).toContain('Disconnect Demo Shop (to disconnect)?');
    await connection.getByRole('button', { name: 'Yes, disconnect' }).click();
    expect(await page.getByRole('status').textContent()).toContain('is disconnected.');
    expect(await page.locator('.connection', { hasText: 'to disconnect' }).count()).toBe(0);
    await ask({ scope: 'account-info', instance: 'one of several' });
    await decide('Allow');
    await page.goto(`${server.baseUrl}/account`);
    await openAll();
    await page.getByText('Disconnect Demo Shop completely', { exact: true }).click();
    await page.getByRole('button', { name: 'Yes, disconnect all' }).click();
    expect(await read()).toContain('No application is connected to your account.');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await expectPage('sign-in');
    await ask({ scope: 'account-info' });
    await signIn();
    await page.getByRole('button', { name: /someone else/ }).click();
    await expectPage('sign-in');
  });

  it.each([
    [1280, 800],
    [360, 740],
    [320, 640],
  ])('fits a window of %d by %d without scrolling sideways', async (width, height) => {
    await page.setViewportSize({ width, height });
    const fits = () =>
      page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);
    await ask({ instance: 'a'.repeat(255) });
    expect(await fits()).toBe(true);
    await signIn();
    expect(await fits()).toBe(true);
    await confirmPayment();
    expect(await fits()).toBe(true);
  });
});

describe('a click that was meant for something else', () => {
  /** Where Allow is, and whether its moment of rest is over. */
  async function allowButton() {
    const button = page.getByRole('button', { name: 'Allow' });
    await button.scrollIntoViewIfNeeded();
    const box = await button.boundingBox();
    const [x, y] = [(box?.x ?? 0) + 20, (box?.y ?? 0) + 10];
    const armed = () => button.evaluate((element) => element.getAnimations().length === 0);
    return { x, y, armed };
  }

  /** Stops or goes on with the time of the page's animations, so that no test depends on how fast this machine is. */
  async function setTime(playbackRate: 0 | 1): Promise<void> {
    const devtools = await context.newCDPSession(page);
    await devtools.send('Animation.enable');
    await devtools.send('Animation.setPlaybackRate', { playbackRate });
  }

  /** The consent page, with the pointer wherever the click on the page before was. */
  async function reachConsent(): Promise<void> {
    await ask({ scope: 'account-info', instance: 'clicks' });
    if ((await page.locator('main[data-page="sign-in"]').count()) > 0) await signIn();
    await expectPage('consent');
  }

  /** A click while time stands still does nothing; one after the moment of rest allows. */
  async function clickTooSoonAndAgain(): Promise<void> {
    const { x, y, armed } = await allowButton();
    await page.mouse.click(x, y);
    expect(await armed()).toBe(false);
    await setTime(1);
    await expect.poll(armed, { timeout: 10_000 }).toBe(true);
    await expectPage('consent');
    await page.mouse.click(x, y);
    await page.waitForURL(/\/story/);
  }

  it('finds Allow asleep when the page has only just appeared', async () => {
    await reachConsent();
    await setTime(0);
    await page.reload();
    await clickTooSoonAndAgain();
  });

  it('finds Allow asleep when a window in front of the page has only just gone', async () => {
    await reachConsent();
    await page.mouse.move(-10, -10); // the pointer is on the window in front
    const { armed } = await allowButton();
    await expect.poll(armed, { timeout: 10_000 }).toBe(true);
    await setTime(0);
    await clickTooSoonAndAgain();
  });
});

describe('a page of another site', () => {
  let evil: Server;
  let evilUrl: string;
  let document = '';

  beforeAll(async () => {
    evil = createServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end(document),
    );
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve));
    const address = evil.address();
    evilUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
  });

  afterAll(() => {
    evil.close();
  });

  it('can’t show ours in a frame', async () => {
    document = `<iframe id="frame" src="${server.baseUrl}/account"></iframe>`;
    const answered = page.waitForResponse(`${server.baseUrl}/account`);
    await page.goto(evilUrl);
    expect((await answered).status()).toBe(403);
    const frame = page.frames()[1];
    await expect.poll(() => frame?.url()).toMatch(/^chrome-error:/);
    expect(complaints.splice(0).join()).toMatch(/frame-ancestors/);
    // The browser's own error, and nothing of what we answered.
    expect(await frame?.content()).not.toMatch(/Open this in your browser|data-page/);
  });

  it('can’t sign a visitor in as somebody else, even with a form that it got for itself', async () => {
    const form = await (await fetch(`${server.baseUrl}/account`)).text();
    const fields = form.match(/<input type="hidden"[^>]*>/g)?.join('') ?? '';
    document = `<form method="post" action="${server.baseUrl}/sign-in">${fields}
      <input name="login" value="${demo.login}"><input name="password" value="${demo.password}"><button>Win</button></form>`;
    await page.goto(`${server.baseUrl}/account`); // so that the visitor has a cookie too
    await page.goto(evilUrl);
    await page.getByRole('button', { name: 'Win' }).click();
    await expectPage('sign-in');
    await page.goto(`${server.baseUrl}/account`);
    await expectPage('sign-in');
  });

  it('can’t send a decision, even with a form that it copied', async () => {
    await ask({ scope: 'account-info', instance: 'forged' });
    await signIn();
    const fields = await page
      .locator('form[action="/consent"] input')
      .evaluateAll((inputs) => inputs.map((input) => (input as HTMLInputElement).outerHTML));
    document = `<form method="post" action="${server.baseUrl}/consent">${fields.join('')}<button name="decision" value="allow">Win</button></form>`;
    await page.goto(evilUrl);
    await page.getByRole('button', { name: 'Win' }).click();
    await expectPage('consent');
    await page.goto(`${server.baseUrl}/account`);
    expect(await page.getByText('forged', { exact: true }).count()).toBe(0);
  });
});
