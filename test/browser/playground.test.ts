import type axe from 'axe-core';
import { source } from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { useTrial } from '../support/process/trial.ts';
import { confirmPayment, expectPage, signIn, useBrowser } from '../support/programs/browsing.ts';

const web = useBrowser({ locale: 'en-GB' });
const trial = await useTrial();
let page: Page;

async function open(options: BrowserContextOptions = {}): Promise<void> {
  page = await web.open(options);
  await page.goto(trial.open);
}

const press = (name: string | RegExp) => page.getByRole('button', { name }).first().click();
const heading = () => page.locator('h1').textContent();
const titles = async () =>
  (await page.locator('.message h2').allTextContents()).map((title) => title.replaceAll(/\s+/g, ' ').trim());
const newest = () => page.locator('.message').first();
const next = () => page.locator('.lessons button').click();
const ticked = () => page.locator('.lessons').getByRole('img', { name: 'Done' }).count();

async function connect(ask = next): Promise<void> {
  const isOn = async (name: string) => (await page.locator(`main[data-page="${name}"]`).count()) > 0;
  await ask();
  await page.getByText(trial.payment).waitFor(); // it is asked for soon
  await press('Send it');
  await page.locator('main[data-page]').waitFor();
  if (await isOn('sign-in')) await signIn(page, trial);
  await press('Allow');
  await page.waitForURL(/\/(confirm|story)\b/);
  if (await isOn('confirm')) await confirmPayment(page, trial.payment);
  await page.waitForURL(/\/story/);
}

describe('the playground of trial mode', () => {
  it('covers a whole tour: connect, spend to the limit, connect again, replay the code, revoke', async () => {
    await open();
    const text = await page.locator('main').textContent();
    for (const part of [trial.password, trial.payment, trial.other.password]) expect(text).toContain(part);

    await connect();
    expect(await titles()).toEqual([
      '3 The exchange: a token for the code',
      '2 You allowed it: back with a code',
      '1 The request',
    ]);
    expect(page.url()).not.toContain('code=');
    expect(await page.locator('#access-token').textContent()).toMatch(/^assent_at_.{4}…/);

    await next();
    expect(await heading()).toBe('Paid');
    await next();
    expect(await heading()).toBe('Not paid');
    expect(await newest().textContent()).toContain('over_budget');
    expect(await page.locator('.message').nth(1).textContent()).toMatch(
      /"verdict": "refused".+"left": "2000"/s,
    );
    await page.getByText(/^3,000 of 5,000 used, free again from \d/).waitFor();
    expect(await page.getByRole('meter').getAttribute('value')).toBe('3000');
    expect(await ticked()).toBe(2);

    await connect();
    expect(await heading()).toBe('The earlier token has ended');

    await next();
    expect((await titles()).slice(0, 2)).toEqual([
      '6 The token doesn’t work any more',
      '5 The same code again',
    ]);
    expect(await page.locator('.message').nth(1).textContent()).toContain('"error": "invalid_grant"');

    await connect();
    expect(await ticked()).toBe(4);
    await page.locator('.lessons').getByRole('link', { name: 'Your connected applications' }).click();
    await expectPage(page, 'account');
    await page.getByText('Disconnect', { exact: true }).first().click();
    await press(/^Yes, disconnect: /);
    await page.getByRole('status').waitFor();
    await page.goto(`${trial.open}/story`);
    await next();
    expect(await newest().textContent()).toContain('invalid_token');
    expect(await page.locator('.message[open] h2').allTextContents()).toHaveLength(2);
    expect(await ticked()).toBe(5);
  });

  it('copies a password and a message to the clipboard', async () => {
    await open({ permissions: ['clipboard-read', 'clipboard-write'] });
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await press('Copy: Payment password');
    await expect.poll(copied).toBe(trial.payment);
    await next();
    await press('Copy: Request');
    await expect.poll(copied).toMatch(/^POST \S+\/oauth\/authorize\n.+\ncode_challenge_method=S256$/s);
  });

  it.each([
    { width: 320, colorScheme: 'dark' },
    { width: 1280, colorScheme: 'light' },
  ] as const)('has no axe violations, and nothing that overlaps or sticks out: $width px', async (look) => {
    await open({ viewport: { width: look.width, height: 900 }, colorScheme: look.colorScheme });
    const expectSound = async () => {
      await page.waitForLoadState();
      const excess = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
      expect(await page.evaluate(excess)).toBeLessThanOrEqual(0);
      await page.evaluate(source);
      const { violations } = await page.evaluate(() => (window as unknown as { axe: typeof axe }).axe.run());
      expect(violations).toEqual([]);
    };
    await page.locator('#instance').fill('a'.repeat(255));
    await expectSound();
    await page.locator('#scope').fill('account-info');
    await press('Ask for this');
    await expectSound();
    await page.goto(trial.open);
    await connect();
    await next();
    const NOWHERE = { x: 0, y: 0, width: 0, height: 0 };
    const box = async (part: string) => (await newest().locator(part).boundingBox()) ?? NOWHERE;
    const [{ x, y, ...size }, { x: left, y: top, ...other }] = [await box('.warning'), await box('.way')];
    expect(size.width).toBeGreaterThan(200);
    const isBeside = x + size.width <= left || left + other.width <= x;
    expect(isBeside || y + size.height <= top || top + other.height <= y).toBe(true);
    await page.locator('details').evaluateAll((all) => {
      for (const element of all) element.setAttribute('open', '');
    });
    await expectSound();
    await press('Ask what the token allows');
    await expectSound();
  });

  it('shows HTTP requests as code in the programming language chosen last', async () => {
    await open();
    await connect();
    await page.getByRole('radio', { name: 'HTTP' }).locator('visible=true').first().focus();
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('ArrowRight');
    const program = () => page.locator('.panel:visible', { hasText: 'requests.post' }).first().textContent();
    expect(await program()).toMatch(/oauth\/token.+environ\["CLIENT_SECRET"\]/s);
    await next();
    await expect.poll(program).toMatch(/oauth\/spend.+environ\["RESOURCE_SECRET"\]/s);
  });

  it('works without JavaScript', async () => {
    await open({ javaScriptEnabled: false });
    await connect(() => press('To pay shop 337 once, exactly 3,000'));
    expect(await heading()).toBe('The exchange: a token for the code');
    expect(await page.locator('.copy').filter({ visible: true }).count()).toBe(0);
    await page.locator('label', { hasText: 'Go' }).first().click();
    expect(await page.locator('.panel:visible', { hasText: 'http.NewRequest' }).count()).toBe(1);
    await page.goto(trial.open);
    await page.getByLabel('Its name').fill('My Shop');
    await press('Register it for an hour');
    expect(await page.locator('#own dd').allTextContents()).toHaveLength(5);
  });
});
