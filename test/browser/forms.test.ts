import { createServer } from 'node:http';
import type { BrowserContextOptions, Page, Response } from 'playwright-core';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { parseLogo } from '../../src/config/operatorFiles.ts';
import { contrastRatio } from '../../src/rules/face/brand.ts';
import { linkTo, requestOf } from '../support/flow.ts';
import { svg } from '../support/pictures.ts';
import { listen } from '../support/process/program.ts';
import {
  confirmPayment,
  expectPage as expectPageIn,
  signIn as signInOn,
  useBrowser,
} from '../support/programs/browsing.ts';
import { type TestUser, useServer } from '../support/server.ts';

const server = await useServer();
const user = await server.createUser();
const client = await server.createClient();
const request = (scope = 'payment-p2p', by = client) => server.baseUrl + linkTo(requestOf(by, { scope }));

const web = useBrowser({ locale: 'en-GB' });
let page: Page;

beforeEach(() => open());

async function open(options: BrowserContextOptions = {}): Promise<void> {
  page = await web.open(options);
}

const expectPage = (name: string) => expectPageIn(page, name);

const signIn = () => signInOn(page, user);

async function reachConsent(scope = 'account-info'): Promise<void> {
  await page.goto(request(scope));
  await signIn();
  await expectPage('consent');
}

async function allowIt(): Promise<void> {
  await page.locator('[value=allow]').click();
  await expectPage('confirm');
}

/** Types the payment password, which leads to the application. */
async function confirmAs({ paymentPassword }: TestUser): Promise<void> {
  const answered = page.waitForRequest(/\/callback\?code=/);
  await confirmPayment(page, paymentPassword);
  await answered;
}

const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.tagName);

it('an SVG logo with a script is drawn by a page, and runs no script when opened alone [browser-forms-1]', async () => {
  const script = '<script>document.documentElement.id = "ran"</script>';
  const logo = parseLogo(svg(script, 'viewBox="0 0 9 9" width="9" height="9"'));
  const drawn = await server.createClient({ logo });
  const path = `/oauth/logo/${drawn.clientId}-${logo.file}`;
  await page.goto(request('payment-p2p', drawn));
  const image = page.locator(`img[src="${path}"]`);
  expect(await image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBe(9);
  await page.goto(server.baseUrl + path);
  expect(await page.evaluate(() => document.documentElement.outerHTML)).toMatch(/^<svg .*<script>/);
  expect(await page.evaluate(() => document.documentElement.id)).toBe('');
});

describe('the button that shows a password', () => {
  const field = () => page.locator('#password');
  const show = () => page.getByRole('button', { name: 'Show password', exact: true });
  const hide = () => page.getByRole('button', { name: 'Hide password', exact: true });
  const typeAndFocus = async () => [await field().getAttribute('type'), await focused()];

  it('shows and hides the text; a click keeps the focus and the cursor in the field', async () => {
    await page.goto(request());
    await field().fill('secret');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    await show().click();
    expect(await typeAndFocus()).toEqual(['text', 'password']);
    await page.keyboard.type('-');
    expect(await field().inputValue()).toBe('secre-t');
    await hide().click();
    expect(await field().getAttribute('type')).toBe('password');
    expect(await field().inputValue()).toBe('secre-t');
  });

  it('comes after the field in tab order, and keeps the focus when pressed', async () => {
    await page.goto(request());
    await field().focus();
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('BUTTON');
    await page.keyboard.press('Space');
    expect(await typeAndFocus()).toEqual(['text', 'BUTTON']);
    await page.keyboard.press('Enter');
    expect(await typeAndFocus()).toEqual(['password', 'BUTTON']);
    await expectPage('sign-in');
  });

  it.each(['en', 'ru'])('has the same width before and after a click: %s', async (locale) => {
    await open({ locale });
    await page.goto(request());
    const button = page.locator('.password button');
    const before = await button.boundingBox();
    await button.click();
    expect((await button.boundingBox())?.width).toBe(before?.width);
  });

  it('hides the password again when the form is sent', async () => {
    await page.goto(request());
    await page.evaluate(() => {
      const typeOf = () => document.querySelector<HTMLInputElement>('#password')?.type ?? '';
      addEventListener('submit', () => sessionStorage.setItem('type', typeOf()));
    });
    await page.locator('[name=login]').fill(user.login);
    await field().fill(user.password);
    await show().click();
    await field().press('Enter');
    await expectPage('consent');
    expect(await page.evaluate(() => sessionStorage.getItem('type'))).toBe('password');
  });

  it('is hidden if its script does not load, and the forms still work', async () => {
    await page.route('**/oauth/form-*.js', (route) => route.abort());
    await page.goto(request());
    expect(await page.locator('.password button').isVisible()).toBe(false);
    await signIn();
    await allowIt();
    expect(await page.locator('.password button').isVisible()).toBe(false);
    await confirmAs(user);
  });
});

it('Caps Lock is reported beside the field, in its language, while it is on and the field has focus', async () => {
  await open({ locale: 'ru' });
  const hint = page.locator('.hint[aria-live]');
  // Headless Chromium has no such key: the event is made here.
  const press = (type: string, modifierCapsLock: boolean) =>
    page.locator('#password').dispatchEvent(type, { modifierCapsLock, bubbles: true });
  await page.goto(request());
  await page.locator('#password').focus();
  expect(await hint.getAttribute('aria-live')).toBe('polite');
  // As by a browser that fills the field by itself.
  await page.locator('#password').evaluate((field) => field.dispatchEvent(new Event('keydown')));
  expect(await hint.textContent()).toBe('');
  await press('keydown', true);
  expect(await hint.textContent()).toBe('Включён Caps Lock.');
  await press('keyup', false);
  expect(await hint.textContent()).toBe('');
  await press('keydown', true);
  await page.locator('#login').focus();
  expect(await hint.textContent()).toBe('');
});

it('browsers store the payment password under a separate user name, neither posted nor visible', async () => {
  await reachConsent('payment-p2p');
  await allowIt();
  await page.getByRole('button', { name: 'Show password', exact: true }).click();
  const form = page.locator('form[action="/oauth/confirm"]');
  const [keptAs, typed] = [form.locator('[autocomplete=username]'), form.locator('[name=payment_password]')];
  expect(await keptAs.inputValue()).toBe(`${user.login} (payment)`);
  expect(await keptAs.boundingBox()).toMatchObject({ width: 1, height: 1 });
  expect(await typed.getAttribute('autocomplete')).toBe('current-password');
  expect(await form.getByRole('textbox').count()).toBe(1);
  await typed.focus();
  await page.keyboard.press('Shift+Tab');
  expect(await form.locator(':focus').count()).toBe(0);
  const posted = page.waitForRequest('**/oauth/confirm');
  await typed.fill(user.paymentPassword ?? '');
  await typed.press('Enter');
  const names = [...new URLSearchParams((await posted).postData() ?? '').keys()];
  expect(names).toEqual(['request', 'decision', 'payment_password']);
});

describe('a wrong password', () => {
  async function mistype(name: string): Promise<void> {
    await page.locator(`[name=${name}]`).fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
  }

  const described = () =>
    page.evaluate(() => {
      const field = document.activeElement;
      const [id = ''] = field?.getAttribute('aria-describedby')?.split(' ') ?? [];
      return [field?.id, field?.ariaInvalid, document.getElementById(id)?.textContent?.trim()];
    });

  it.each([true, false])(
    'puts the focus in its field, and shows the error there and in the title (JavaScript: %s)',
    async (javaScriptEnabled) => {
      await open({ javaScriptEnabled });
      await page.goto(request());
      await page.locator('[name=login]').fill(user.login);
      await mistype('password');
      const wrong = 'The login or the password is wrong.';
      expect(await described()).toEqual(['password', 'true', wrong]);
      expect(await page.title()).toMatch(/^Error: Sign in/);
      expect(await page.locator('[name=login]').inputValue()).toBe(user.login);
      await signIn();
      await allowIt();
      await mistype('payment_password');
      expect(await described()).toEqual([
        'payment-password',
        'true',
        'The payment password is wrong. It is not the one you sign in with.',
      ]);
      expect(await page.title()).toMatch(/^Error: /);
    },
  );

  const application = createServer((_request, response) => response.end('the application'));
  afterAll(() => void application.close());

  it('is not posted again by a reload, or by Back after it was corrected', async () => {
    const redirectUri = `http://127.0.0.1:${await listen(application)}/callback`;
    await page.goto(request('payment-p2p', await server.createClient({ redirectUri })));
    await page.locator('[name=login]').fill(user.login);
    await mistype('password');
    const posts: string[] = [];
    page.on('request', (sent) => sent.method() === 'POST' && posts.push(new URL(sent.url()).pathname));
    await page.reload();
    await page.getByRole('alert').waitFor();
    await signIn();
    await allowIt();
    await mistype('payment_password');
    await page.reload();
    await page.getByRole('alert').waitFor();
    await confirmPayment(page, user.paymentPassword);
    await page.getByText('the application').waitFor();
    for (let times = 0; times < 3; times += 1) {
      await page.goBack();
      await expectPage('consent');
    }
    expect(posts).toEqual(['/oauth/sign-in', '/oauth/consent', '/oauth/confirm', '/oauth/confirm']);
  });
});

describe('the Allow button just after the page appears', () => {
  const allow = () => page.locator('[value=allow]');
  const isResting = () => allow().evaluate((button) => getComputedStyle(button).pointerEvents === 'none');

  async function setTime(playbackRate: 0 | 1): Promise<void> {
    const devtools = await web.context.newCDPSession(page);
    await devtools.send('Animation.enable');
    await devtools.send('Animation.setPlaybackRate', { playbackRate });
  }

  async function reachSleeping(): Promise<void> {
    await reachConsent();
    await setTime(0);
    await page.reload();
    expect(await isResting()).toBe(true);
  }

  it.each([
    { reducedMotion: 'no-preference', javaScriptEnabled: true },
    { reducedMotion: 'reduce', javaScriptEnabled: true },
    { reducedMotion: 'no-preference', javaScriptEnabled: false },
  ] as const)(
    'ignores clicks, and keys meant for another element, not its own: %j [browser-forms-2]',
    async (options) => {
      await open(options);
      await reachSleeping();
      for (const key of ['Enter', 'Space']) await page.keyboard.press(key);
      expect([await focused(), await isResting()]).toEqual(['BODY', true]);
      await allow().click({ force: true });
      await expectPage('consent');
      // For keys and screen readers it is enabled.
      expect(await page.getByRole('button', { name: 'Allow', exact: true }).isEnabled()).toBe(true);
      await allow().focus();
      expect(await isResting()).toBe(true);
      const answered = page.waitForRequest(/\/callback\?code=/);
      await page.keyboard.press('Enter');
      await answered;
    },
  );

  it.each(['light', 'dark'] as const)('has enough contrast in %s mode', async (colorScheme) => {
    await open({ colorScheme });
    await reachSleeping();
    // Of its text with it, and of it with the page around it.
    const [text = '', button = '', around = ''] = await allow().evaluate((element) => {
      const main = getComputedStyle(document.querySelector('main') as Element);
      const { color, backgroundColor, opacity } = getComputedStyle(element);
      if (opacity !== '1') throw new Error(`opacity ${opacity}`);
      const hex = (part: string) => Number(part).toString(16).padStart(2, '0');
      return [color, backgroundColor, main.backgroundColor].map(
        (colour) => `#${(colour.match(/\d+/g) ?? []).map(hex).join('')}`,
      );
    });
    expect(Math.min(contrastRatio(text, button), contrastRatio(button, around))).toBeGreaterThanOrEqual(3);
  });

  it('ignores clicks again when the pointer has just entered the page, and keeps the focus', async () => {
    await reachConsent();
    await page.mouse.move(-10, -10);
    await expect.poll(isResting).toBe(false);
    await allow().focus();
    await setTime(0);
    await page.mouse.move(5, 5);
    await expect.poll(isResting).toBe(true);
    expect(await page.evaluate(() => document.activeElement?.getAttribute('value'))).toBe('allow');
    await allow().click({ force: true });
    await expectPage('consent');
    await setTime(1);
    await expect.poll(isResting).toBe(false);
    const answered = page.waitForRequest(/\/callback\?code=/);
    await allow().click();
    await answered;
  });

  it('looks disabled in forced colours too', async () => {
    await open({ forcedColors: 'active' });
    const border = () => allow().evaluate((element) => getComputedStyle(element).borderBottomStyle);
    await reachSleeping();
    expect(await border()).toBe('dashed');
    await setTime(1);
    await expect.poll(isResting).toBe(false);
    expect(await border()).toBe('solid');
  });
});

it.each(['en', 'ru'])(
  'Reject and Allow have the same size, are stacked only in large text, and have icons that scale: %s',
  async (locale) => {
    await open({ locale });
    await reachConsent();
    const icons: number[] = [];
    for (const [width, percent, stacked] of [
      [1280, 100, false],
      [320, 100, false],
      [320, 200, true],
      [360, 200, true],
    ] as const) {
      await page.setViewportSize({ width, height: 700 });
      await page.evaluate((size) => {
        document.documentElement.style.fontSize = `${size}%`;
      }, percent);
      const boxOf = async (part: string) => {
        const { y = 0, width = 0, height = 0 } = (await page.locator(part).first().boundingBox()) ?? {};
        return { y, size: [Math.round(width), Math.round(height)], height }; // layouts are in 64ths of a pixel
      };
      const [reject, allow] = [await boxOf('[value=reject]'), await boxOf('[value=allow]')];
      expect([allow.y > reject.y, allow.size], `${percent} % on ${width} px`).toEqual([stacked, reject.size]);
      icons.push((await boxOf('main svg')).height / percent);
    }
    expect(new Set(icons).size).toBe(1);
  },
);

describe('the limit fields, without JavaScript on a small screen,', () => {
  let payer: TestUser;

  beforeEach(async () => {
    payer = await server.createUser();
    const lowering = await server.createClient({ userLimits: true });
    await open({ javaScriptEnabled: false, viewport: { width: 320, height: 640 } });
    await page.goto(request('payment-shop.limit(30,45000) payment-p2p', lowering));
    await signInOn(page, payer);
  });

  const shops = () => page.getByLabel('Pay any shop');

  async function decide(name: 'Allow' | 'Reject'): Promise<Response> {
    await page.mouse.move(5, 5); // Allow can't be pressed in the first moment after the pointer has come
    const answered = page.waitForResponse((response) => response.url().endsWith('/oauth/consent'));
    await page.getByRole('button', { name }).click({ noWaitAfter: true });
    return answered;
  }

  async function grants(): Promise<unknown[]> {
    const ofPayer = 'select scope from grants where user_id = $1';
    const { rows } = await server.database.pool.query(ofPayer, [payer.userId]);
    return rows.map(({ scope }) => scope);
  }

  it('get the focus if their value is invalid, which does not prevent Reject', async () => {
    await shops().fill('a lot');
    expect((await decide('Allow')).status()).toBe(303);
    await page.locator('[aria-invalid]').waitFor();
    expect(await shops().inputValue()).toBe('a lot');
    expect(await page.locator(':focus').getAttribute('id')).toBe(await shops().getAttribute('id'));
    await shops().fill('');
    expect((await decide('Reject')).headers().location).toContain('error=access_denied');
    expect(await grants()).toEqual([]);
  });

  it('don’t submit the form when Enter is pressed in them', async () => {
    const posts: string[] = [];
    page.on('request', (sent) => sent.method() === 'POST' && posts.push(sent.url()));
    await shops().fill('9 000,50');
    await page.keyboard.press('Enter');
    await page.getByLabel('Transfer money to anyone').press('Enter');
    await decide('Allow');
    expect(posts).toHaveLength(1);
    await page.getByText('At most RUB 9,000.50 in any 30 days').waitFor();
    await confirmAs(payer);
    expect(await grants()).toEqual(['payment-shop.limit(30,9000.50) payment-p2p']);
  });
});
