import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listen } from '../support/process/program.ts';
import { useTrial } from '../support/process/trial.ts';
import {
  confirmPayment,
  expectPage as expectPageIn,
  signIn as signInOn,
  useBrowser,
} from '../support/programs/browsing.ts';

// A real browser, the real server, and the demo application on another site: 127.0.0.1 against localhost.

const web = useBrowser();
const demo = await useTrial();
let page: Page;

beforeEach(async () => {
  page = await web.open();
});

/** Opens the card of every application; one alone is open. */
async function openAll(): Promise<void> {
  for (const card of await page.locator('.card:not([open]) > summary').all()) await card.click();
}

const expectPage = (name: string, target = page) => expectPageIn(target, name);
const signIn = () => signInOn(page, demo);
const press = (name: string) => page.getByRole('button', { name }).click();

/** What a person reads on the page, with every kind of space as one. */
async function read(target: Page = page): Promise<string> {
  return ((await target.locator('main').textContent()) ?? '').replaceAll(/\s+/g, ' ');
}

async function ask(fields: { scope?: string; instance?: string } = {}): Promise<void> {
  await page.goto(demo.open);
  if (fields.scope !== undefined) await page.locator('[name=scope]').fill(fields.scope);
  if (fields.instance !== undefined) await page.locator('[name=instance_name]').fill(fields.instance);
  await press('Ask for this');
  await press('Send it');
  await page.waitForURL(`${demo.baseUrl}/**`);
}

/** Presses a button of the consent page and waits until the application shows what came of it. @returns the answer's address */
async function decide(button: 'Allow' | 'Reject'): Promise<string> {
  const answered = page.waitForRequest(/\/callback\?/);
  await press(button);
  await page.waitForURL(/\/story/);
  return (await answered).url();
}

const accessToken = () => page.locator('#access-token').textContent();

/** Presses Allow and types the payment password, which leads back to the application. @returns the answer's address */
async function allowPayment(): Promise<string> {
  const answered = page.waitForRequest(/\/callback\?/);
  await press('Allow');
  await confirmPayment(page, demo.payment);
  await page.waitForURL(/\/story/);
  return (await answered).url();
}

describe('rejecting a payment in a browser', () => {
  it.each([true, false])(
    'needs no payment password, also on its page, by keyboard (with scripts: %s)',
    async (javaScriptEnabled) => {
      page = await web.open({ javaScriptEnabled });
      await ask();
      await signIn();
      await expectPage('consent');
      await press('Allow…');
      await expectPage('confirm');
      await page.getByLabel('Payment password').focus();
      await page.keyboard.type('half of it');
      const shows = page.getByRole('button', { name: 'Show password' });
      const back = page.getByRole('link', { name: 'Back', exact: true });
      for (const next of javaScriptEnabled ? [shows, back] : [back]) {
        await page.keyboard.press('Tab');
        await page.locator(':focus').and(next).waitFor();
      }
      const sent = page.waitForRequest((request) => request.isNavigationRequest());
      await page.keyboard.press('Enter');
      expect([(await sent).method(), (await sent).url().includes('half')]).toEqual(['GET', false]);
      await expectPage('consent');
      expect(await decide('Reject')).toMatch(
        new RegExp(`^${demo.open}/callback\\?state=.+&error=access_denied$`),
      );
    },
  );
});

describe('the whole authorization in a browser', () => {
  it.each([true, false])(
    'leads from the application through sign-in, consent and payment password to a token (with scripts: %s)',
    async (javaScriptEnabled) => {
      page = await web.open({ javaScriptEnabled });
      await ask({ instance: `dana@shop ${javaScriptEnabled}` });
      await expectPage('sign-in');
      await signIn();
      await expectPage('consent');
      const text = await read();
      for (const part of ['Demo Shop', 'dana@shop', 'pay any shop', 'up to RUB 5,000 in any 7 days'])
        expect(text).toContain(part);
      const answer = await allowPayment();
      expect(answer).toMatch(new RegExp(`^${demo.open}/callback\\?state=.+&code=assent_ac_`));
      expect(await accessToken()).toMatch(/^assent_at_/);
    },
  );

  it('does not decide again when Back is pressed from the application to the request', async () => {
    await ask({ instance: 'and back' });
    await signIn();
    await allowPayment();
    const posts: string[] = [];
    page.on('request', (sent) => sent.method() === 'POST' && posts.push(sent.url()));
    await page.goBack();
    await expectPage('consent');
    expect(await page.getByRole('status').textContent()).toContain('You have just allowed this request');
    expect(posts).toEqual([]);
  });

  it('works without JavaScript, by keyboard alone', async () => {
    page = await web.open({ javaScriptEnabled: false });
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

  it('gives the application one code when Allow is clicked twice at once', async () => {
    await ask({ scope: 'account-info', instance: 'twice' });
    await signIn();
    await page.getByRole('button', { name: 'Allow' }).dblclick();
    // The second click cuts the first one's navigation off, which waiting for an address would take for an error.
    expect(await accessToken()).toMatch(/^assent_at_/);
  });

  it('can be reloaded, gone back to and opened in a second tab', async () => {
    await ask({ scope: 'account-info', instance: 'tabs' });
    const request = page.url();
    await page.reload();
    await expectPage('sign-in');
    await signIn();
    const second = await web.context.newPage();
    await second.goto(request);
    await expectPage('consent', second);
    const first = await decide('Allow');
    await page.goBack();
    await expectPage('consent');
    expect(await page.getByRole('status').textContent()).toContain('You have just allowed this request');
    // The same page was allowed in the first tab, and its code is used: nothing is decided again.
    await second.getByRole('button', { name: 'Allow' }).click();
    await second.getByText('You already allowed this').waitFor();
    await expectPage('consent', second);
    await second.getByRole('link', { name: 'Connected applications' }).last().click();
    await expectPage('account', second);
    expect(await decide('Allow')).not.toBe(first);
  });

  it('lets the user disconnect an application, sign out, and sign in as another user', async () => {
    await ask({ scope: 'account-info', instance: 'to disconnect' });
    await signIn();
    await decide('Allow');
    await page.goto(`${demo.baseUrl}/account`);
    await openAll();
    const connection = page.locator('.connection', { hasText: 'to disconnect' });
    await connection.getByText('Disconnect', { exact: true }).click();
    expect(await connection.textContent()).toContain('Disconnect Demo Shop (to disconnect)?');
    await connection.getByRole('button', { name: 'Yes, disconnect' }).click();
    expect(await page.getByRole('status').textContent()).toContain('Disconnected: ');
    expect(await connection.count()).toBe(0);
    await ask({ scope: 'account-info', instance: 'one of several' });
    await decide('Allow'); // the session has come along with a form of another site
    await page.goto(`${demo.baseUrl}/account`);
    await openAll();
    await page.getByText('Disconnect Demo Shop completely', { exact: true }).click();
    await press('Yes, disconnect all');
    expect(await read()).toContain('No application is connected to your account.');
    await press('Sign out');
    await expectPage('sign-in');
    await ask({ scope: 'account-info' });
    await signIn();
    await press('Not you?');
    await expectPage('sign-in');
  });
});

describe('a page of another site', () => {
  let document = '';
  const evil = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end(document),
  );
  let evilUrl: string;
  beforeAll(async () => {
    evilUrl = `http://127.0.0.1:${await listen(evil)}/`;
  });
  afterAll(() => void evil.close());

  it('can’t frame a page of Assent', async () => {
    document = `<iframe id="frame" src="${demo.baseUrl}/account"></iframe>`;
    const answered = page.waitForResponse(`${demo.baseUrl}/account`);
    await page.goto(evilUrl);
    expect((await answered).status()).toBe(403);
    const frame = page.frames()[1];
    await expect.poll(() => frame?.url()).toMatch(/^chrome-error:/);
    expect(web.complaints.splice(0).join()).toMatch(/frame-ancestors/);
    // The browser's own error, and nothing of what we answered.
    expect(await frame?.content()).not.toMatch(/Open this in your browser|data-page/);
  });

  it('can’t sign a visitor in as another user, even with a form that it loaded itself', async () => {
    const form = await (await fetch(`${demo.baseUrl}/account`)).text();
    const fields = form.match(/<input type="hidden"[^>]*>/g)?.join('') ?? '';
    document = `<form method="post" action="${demo.baseUrl}/sign-in">${fields}
      <input name="login" value="${demo.login}"><input name="password" value="${demo.password}"><button>Win</button></form>`;
    await page.goto(`${demo.baseUrl}/account`); // so that the visitor has a cookie too
    await page.goto(evilUrl);
    await press('Win');
    await expectPage('sign-in');
    await page.goto(`${demo.baseUrl}/account`);
    await expectPage('sign-in');
  });

  it('can’t send a decision, even with a copied form', async () => {
    await ask({ scope: 'account-info', instance: 'forged' });
    await signIn();
    const fields = await page
      .locator('form[action="/consent"] input')
      .evaluateAll((inputs) => inputs.map((input) => (input as HTMLInputElement).outerHTML));
    document = `<form method="post" action="${demo.baseUrl}/consent">${fields.join('')}<button name="decision" value="allow">Win</button></form>`;
    await page.goto(evilUrl);
    await press('Win');
    await expectPage('consent');
    await page.goto(`${demo.baseUrl}/account`);
    expect(await page.getByText('forged', { exact: true }).count()).toBe(0);
  });
});
