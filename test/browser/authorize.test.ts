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

// The demo application is on another site: 127.0.0.1, and the server is on localhost.

const web = useBrowser();
const demo = await useTrial();
let page: Page;

beforeEach(async () => {
  page = await web.open();
});

const expectPage = (name: string) => expectPageIn(page, name);
const signIn = () => signInOn(page, demo);
const press = (name: string) => page.getByRole('button', { name }).click();

async function ask(fields: { scope?: string; instance?: string } = {}): Promise<void> {
  await page.goto(demo.open);
  if (fields.scope !== undefined) await page.locator('[name=scope]').fill(fields.scope);
  if (fields.instance !== undefined) await page.locator('[name=instance_name]').fill(fields.instance);
  await press('Ask for this');
  await press('Send it');
  await page.waitForURL(`${demo.baseUrl}/**`);
}

/** Does what leads back to the application, and waits until that shows what came of it. @returns the answer's address */
async function answerAfter(work: () => Promise<void>): Promise<string> {
  const answered = page.waitForRequest(/\/callback\?/);
  await work();
  await page.waitForURL(/\/story/);
  return (await answered).url();
}

const allow = () => answerAfter(() => press('Allow'));

describe('the whole authorization in a browser', () => {
  it.each([true, false])(
    'leads from the application through sign-in, consent and payment password to a token, by keyboard (JavaScript: %s) [authorize-1]',
    async (javaScriptEnabled) => {
      page = await web.open({ javaScriptEnabled });
      await ask({ instance: `dana@shop ${javaScriptEnabled}` });
      await page.locator('[name=login]:focus').waitFor(); // the page gave it the focus
      await page.keyboard.type(demo.login);
      await page.keyboard.press('Tab');
      await page.keyboard.type(demo.password);
      await page.keyboard.press('Enter');
      await expectPage('consent');
      const text = (await page.locator('main').textContent())?.replaceAll(/\s+/g, ' ');
      for (const part of ['Demo Shop', 'dana@shop', 'pay any shop', 'up to RUB 5,000 in any 7 days'])
        expect(text).toContain(part);
      const allow = page.getByRole('button', { name: 'Allow…' }).and(page.locator(':focus'));
      for (let tabs = 0; tabs < 20 && (await allow.count()) === 0; tabs += 1)
        await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      const answer = await answerAfter(() => confirmPayment(page, demo.payment));
      expect(answer).toMatch(new RegExp(`^${demo.open}/callback\\?state=.+&code=assent_ac_`));
      expect(await page.locator('#access-token').textContent()).toMatch(/^assent_at_/);
      const posts: string[] = [];
      page.on('request', (sent) => sent.method() === 'POST' && posts.push(sent.url()));
      await page.goBack();
      await expectPage('consent');
      expect(await page.getByRole('status').textContent()).toContain('You have just allowed this request');
      expect(posts).toEqual([]);
    },
  );

  it('keeps the session for requests from the application’s site until “Not you?” is pressed', async () => {
    await ask({ scope: 'account-info', instance: 'first' });
    await signIn();
    await allow();
    await ask({ scope: 'account-info', instance: 'second' });
    await allow();
    await ask({ scope: 'account-info' });
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

  it('can’t frame a page of Assent [authorize-2]', async () => {
    document = `<iframe id="frame" src="${demo.baseUrl}/oauth/account"></iframe>`;
    const answered = page.waitForResponse(`${demo.baseUrl}/oauth/account`);
    await page.goto(evilUrl);
    expect((await answered).status()).toBe(403);
    const frame = page.frames()[1];
    await expect.poll(() => frame?.url()).toMatch(/^chrome-error:/);
    expect(web.complaints.splice(0).join()).toMatch(/frame-ancestors/);
    // The browser's own error, and nothing of what we answered.
    expect(await frame?.content()).not.toMatch(/Open this in your browser|data-page/);
  });

  it('can’t send a decision, even with a copied form', async () => {
    await ask({ scope: 'account-info', instance: 'forged' });
    await signIn();
    const fields = await page
      .locator('form[action="/oauth/consent"] input')
      .evaluateAll((inputs) => inputs.map((input) => (input as HTMLInputElement).outerHTML));
    document = `<form method="post" action="${demo.baseUrl}/oauth/consent">${fields.join('')}<button name="decision" value="allow">Win</button></form>`;
    await page.goto(evilUrl);
    await press('Win');
    await expectPage('consent');
    await page.goto(`${demo.baseUrl}/oauth/account`);
    expect(await page.getByText('forged', { exact: true }).count()).toBe(0);
  });
});
