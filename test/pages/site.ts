import type { BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium } from '../support/programs/chromium.ts';
import { ASSETS, BASE_URL } from './looks.ts';
import { type State, titleOf } from './states.ts';

export type Site = Awaited<ReturnType<typeof openSite>>;

/** A page has a process of its own. */
const PAGES_AT_ONCE = 2;

/** Shows states in a real browser, with their real headers, style and pictures, on a site that exists in it only. */
export async function openSite() {
  const browser = await launchChromium();
  const shown = new WeakMap<Page, State>();
  const complaints: string[] = [];

  async function open(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext(options);
    await context.route('**/*', async (route) => {
      const { pathname } = new URL(route.request().url());
      const state = shown.get(route.request().frame().page());
      if (pathname === '/' && state)
        return route.fulfill({ headers: { ...state.headers }, body: state.html });
      const asset = ASSETS.get(pathname);
      if (asset) return route.fulfill(asset);
      complaints.push(`${state && titleOf(state)} asks for ${route.request().url()}`);
      return route.abort();
    });
    const page = await context.newPage();
    page.on('console', (message) => {
      if (/content security policy|refused to/i.test(message.text())) complaints.push(message.text());
    });
    return page;
  }

  async function show(page: Page, state: State): Promise<void> {
    shown.set(page, state);
    await page.goto(`${BASE_URL}/`);
    // Allow can't be pressed in its first moment, and looks like that.
    await page.evaluate(() => {
      for (const animation of document.getAnimations()) animation.finish();
    });
  }

  /** Visits each of the states, with all that it unfolds. @returns what pages asked for in vain, or did against their policy */
  async function walk(
    states: readonly State[],
    visit: (page: Page, state: State) => Promise<void>,
  ): Promise<string[]> {
    const waiting = [...states];
    const visitNext = async () => {
      const page = await open();
      for (let state = waiting.shift(); state !== undefined; state = waiting.shift()) {
        await show(page, state);
        await unfold(page);
        await visit(page, state);
      }
      await page.context().close();
    };
    await Promise.all(Array.from({ length: PAGES_AT_ONCE }, visitNext));
    return complaints.splice(0);
  }

  return { open, show, walk, close: () => browser.close() };
}

async function unfold(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true;
  });
}
