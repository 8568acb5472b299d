import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { confirmPayment, expectPage, signIn, useBrowser } from '../support/browsing.ts';
import { useTrial } from '../support/trial.ts';

// The five minutes of trial mode, in a real browser.

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
  (await page.locator('.message h2').allTextContents()).map((title) =>
    title.replace(/^\s*\d+\s*/, '').trim(),
  );
const scope = () => page.locator('#scope').inputValue();

/** Sends the request, signs in and confirms where that is asked, and allows it. */
async function connect(ask = 'Connect my account'): Promise<void> {
  const isOn = async (name: string) => (await page.locator(`main[data-page="${name}"]`).count()) > 0;
  await press(ask);
  await press('Send it');
  await page.locator('main[data-page]').waitFor();
  if (await isOn('sign-in')) await signIn(page, trial);
  if (await isOn('payment-password')) await confirmPayment(page, trial.payment);
  await press('Allow');
  await page.waitForURL(/\/story/);
}

describe('the playground of trial mode', () => {
  it('teaches in five minutes: connect, spend to the limit, ask again, replay the code, take it back', async () => {
    await open();
    const text = await page.locator('main').textContent();
    for (const part of [trial.password, trial.payment, trial.other.password]) expect(text).toContain(part);

    await connect();
    expect(await titles()).toEqual([
      'The request',
      'You allowed it: back with a code',
      'The exchange: a token for the code',
    ]);
    expect(page.url()).not.toContain('code=');
    expect(await page.locator('#access-token').textContent()).toMatch(/^assent_at_.{4}…/);

    await press('Pay');
    expect(await heading()).toBe('Paid');
    await press('Pay');
    expect(await heading()).toBe('Not paid');
    expect(await page.locator('.message').last().textContent()).toMatch(
      /limit_exceeded.+"spent_before": "3000\.00"/s,
    );

    await connect('Have the shop ask again');
    expect(await heading()).toBe('The earlier token has ended');

    await press('Send the code again');
    expect((await titles()).slice(-2)).toEqual(['The same code again', 'The token doesn’t work any more']);
    expect(await page.locator('.message').nth(-2).textContent()).toContain('"error": "invalid_grant"');

    await page.getByRole('link', { name: 'Change what it asks for' }).click();
    await connect();
    await page.getByRole('link', { name: 'Your connected applications' }).click();
    await expectPage(page, 'account');
    await page.getByText('Disconnect', { exact: true }).first().click();
    await press(/^Yes, disconnect: /);
    await page.getByRole('status').waitFor();
    await page.goto(`${trial.open}/story`);
    await press('Pay');
    expect(await page.locator('.message').last().textContent()).toContain('invalid_token');
    expect(await page.locator('.message details[open]').count()).toBe(1);
  });

  it('makes the scope of chips at once, and of limits beside them', async () => {
    await open();
    expect(await scope()).toBe(
      'account-info operation-history payment-shop.limit(7,5000) money-source("wallet","card")',
    );
    await page.getByRole('checkbox', { name: 'List of transactions' }).uncheck();
    await page.getByRole('checkbox', { name: 'Linked card' }).uncheck();
    await page.getByRole('checkbox', { name: 'One person' }).check();
    const person = page.getByRole('group', { name: 'One person' });
    await person.getByLabel('Kind').selectOption('phone');
    await person.getByLabel('Payee').fill('79161234567');
    await person.getByLabel('At most').fill('300');
    await expect
      .poll(scope)
      .toBe(
        'account-info payment-shop.limit(7,5000) payment.to-account("79161234567","phone").limit(,300) money-source("wallet")',
      );
  });

  it('counts down while a code waits, and says when it has expired', async () => {
    await open();
    await page.locator('#scope').fill('account-info');
    await page.getByRole('checkbox', { name: /Exchange the code/ }).uncheck();
    await connect();
    await page.clock.install();
    await page.reload();
    expect(Number(await page.getByRole('timer').textContent())).toBeGreaterThan(0);
    await page.clock.fastForward('01:01');
    await page.getByText('A minute is over, so the code has expired.').waitFor();
    expect(await page.getByRole('timer').isVisible()).toBe(false);
  });

  it('works without JavaScript', async () => {
    await open({ javaScriptEnabled: false });
    await page.getByRole('checkbox', { name: 'List of transactions' }).uncheck();
    await page.getByRole('checkbox', { name: 'Any shop' }).uncheck();
    await press(/^Update/);
    expect(await scope()).toBe('account-info money-source("wallet","card")');
    await page.getByRole('checkbox', { name: 'Wallet' }).uncheck();
    await page.getByRole('checkbox', { name: 'Linked card' }).uncheck();
    await page.getByRole('checkbox', { name: /Exchange the code/ }).uncheck();
    await connect();
    expect(await titles()).toEqual(['The request', 'You allowed it: back with a code']);
    expect(await page.locator('#expired').isVisible()).toBe(false);
    await press('Exchange the code');
    expect(await heading()).toBe('The exchange: a token for the code');
  });

  it.each([320, 1280])('fits a window %d wide without scrolling sideways', async (width) => {
    await open({ viewport: { width, height: 800 } });
    const fits = async () => {
      await page.waitForLoadState();
      return page.evaluate(
        () => document.documentElement.scrollWidth <= document.documentElement.clientWidth,
      );
    };
    await page.getByRole('checkbox', { name: 'One person' }).check();
    await page.locator('#instance').fill('a'.repeat(255));
    expect(await fits()).toBe(true);
    await page.locator('#scope').fill('account-info');
    await press('Connect my account');
    expect(await fits()).toBe(true);
    await page.goto(trial.open);
    await connect();
    await press('Ask what the token allows');
    expect(await fits()).toBe(true);
  });
});
