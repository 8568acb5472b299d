import type { Page, Response } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { requestOf } from '../support/flow.ts';
import { confirmPayment, signIn, useBrowser } from '../support/programs/browsing.ts';
import { type TestClient, type TestUser, useServer } from '../support/server.ts';

// The fields for lower limits in a real browser, without script as everything of ours.

const server = await useServer();

const web = useBrowser({
  javaScriptEnabled: false,
  locale: 'en-GB',
  viewport: { width: 320, height: 640 },
});
let page: Page;
let client: TestClient;
let user: TestUser;

beforeEach(async () => {
  [client, user] = [await server.createClient({ userLimits: true }), await server.createUser()];
  page = await web.open();
  await reachConsent();
});

async function reachConsent(): Promise<void> {
  const request = requestOf(client, { scope: 'payment-shop.limit(30,45000) payment-p2p' });
  await page.goto(`${server.baseUrl}/oauth/authorize?${new URLSearchParams(request)}`);
  await signIn(page, user);
}

/** Types the payment password, up to the answer of the application. */
async function confirm(): Promise<void> {
  const answered = page.waitForRequest(/\/callback\?code=/);
  await confirmPayment(page, user.paymentPassword);
  await answered;
}

async function press(button: 'Allow' | 'Reject'): Promise<Response> {
  await page.mouse.move(5, 5); // Allow can't be pressed in the first moment after the pointer has come
  const answered = page.waitForResponse((response) => response.url().endsWith('/consent'));
  await page.getByRole('button', { name: button }).click({ noWaitAfter: true });
  return answered;
}

const shops = () => page.getByLabel('Pay any shop');

async function grants(): Promise<unknown[]> {
  const { rows } = await server.database.pool.query('select scope from grants where user_id = $1', [
    user.userId,
  ]);
  return rows.map(({ scope }) => scope);
}

describe('the fields of limits', () => {
  it('lower what is allowed, and mark invalid values', async () => {
    await shops().fill('a lot');
    expect((await press('Allow')).status()).toBe(303);
    await page.locator('[aria-invalid]').waitFor();
    expect(await shops().inputValue()).toBe('a lot');
    expect(await page.locator(':focus').getAttribute('id')).toBe(await shops().getAttribute('id'));
    expect(await grants()).toEqual([]);
    await shops().fill('9 000,50');
    await press('Allow');
    await page.getByText('At most RUB 9,000.50 in any 30 days').waitFor();
    await confirm();
    expect(await grants()).toEqual(['payment-shop.limit(30,9000.50) payment-p2p']);
  });

  it('decide nothing when Enter is pressed in them', async () => {
    const sent: string[] = [];
    page.on('request', (request) => sent.push(`${request.method()} ${request.url()}`));
    await shops().fill('9000');
    await page.keyboard.press('Enter');
    await page.getByLabel('Transfer money to anyone').press('Enter');
    await press('Allow');
    expect(sent.filter((request) => request.startsWith('POST'))).toHaveLength(1);
    await confirm();
    expect(await grants()).toEqual(['payment-shop.limit(30,9000) payment-p2p']);
  });

  it('allow rejecting with any content', async () => {
    await shops().fill('');
    expect((await press('Reject')).headers().location).toContain('error=access_denied');
    expect(await grants()).toEqual([]);
  });

  it('are above both buttons, on a small screen and on a large one', async () => {
    const places = [
      page.getByLabel('Transfer money to anyone'),
      page.getByRole('button', { name: 'Reject' }),
      page.getByRole('button', { name: 'Allow' }),
    ];
    for (const width of [320, 1_200]) {
      await page.setViewportSize({ width, height: 800 });
      const [field, ...buttons] = await Promise.all(places.map((place) => place.boundingBox()));
      const end = (field?.y ?? 0) + (field?.height ?? 0);
      for (const button of buttons) expect(button?.y).toBeGreaterThan(end);
    }
  });
});
