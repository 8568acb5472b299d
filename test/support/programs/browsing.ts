import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { noteCookie } from '../traffic.ts';
import { launchChromium } from './chromium.ts';

const PATIENCE_MS = 110_000;

export function useBrowser(standard: BrowserContextOptions = {}) {
  /** Exceptions and violations of our own policy. They fail their test. */
  const complaints: string[] = [];
  let browser: Browser;
  let context: BrowserContext | undefined;

  async function close(): Promise<void> {
    for (const { name, value } of (await context?.cookies()) ?? []) noteCookie(`${name}=${value}`);
    await context?.close();
    context = undefined;
  }

  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    await close();
    expect(complaints.splice(0)).toEqual([]);
  });

  return {
    complaints,
    get context() {
      if (context === undefined) throw new Error('no window is open');
      return context;
    },
    async open(options?: BrowserContextOptions) {
      await close();
      context = await browser.newContext({ ...standard, ...options });
      context.setDefaultTimeout(PATIENCE_MS);
      const page = await context.newPage();
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message) => {
        if (/content security policy|refused to/i.test(message.text())) complaints.push(message.text());
      });
      return page;
    },
  };
}

export async function expectPage(page: Page, name: string): Promise<void> {
  await page.locator(`main[data-page="${name}"]`).waitFor();
}

export async function signIn(
  page: Page,
  { login, password }: { login: string; password: string },
): Promise<void> {
  await page.locator('[name=login]').fill(login);
  await page.locator('[name=password]').fill(password);
  await page.keyboard.press('Enter');
  await page.locator('main[data-page]:not([data-page="sign-in"])').waitFor();
}

/** Types the payment password on the page that confirms a decision, which leads to the application. */
export async function confirmPayment(page: Page, paymentPassword: string | null): Promise<void> {
  await expectPage(page, 'confirm');
  await page.locator('[name=payment_password]').fill(paymentPassword ?? '');
  await page.keyboard.press('Enter');
}
