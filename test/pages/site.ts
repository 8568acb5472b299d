import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium } from '../support/chromium.ts';
import { BASE_URL, PICTURES } from './looks.ts';
import { type State, titleOf } from './states.ts';

/** Shows states in a real browser, with their real headers and pictures, on a site that exists in it only. */
export interface Site {
  /** A page in a context of its own. */
  open(options?: Options): Promise<Page>;
  show(page: Page, state: State): Promise<void>;
  /** Shows each of the states with all that it folds away, and says what is wrong with which. */
  examine(
    states: readonly State[],
    options: Options,
    problemsOn: (page: Page, state: State) => Promise<readonly string[]>,
  ): Promise<string[]>;
  close(): Promise<void>;
}

/** `script` runs in each page before anything else. */
type Options = BrowserContextOptions & { readonly script?: string };

/** A page has a process of its own. */
const PAGES_AT_ONCE = 2;

export async function openSite(): Promise<Site> {
  const browser = await launchChromium();
  const shown = new WeakMap<Page, State>();
  /** What pages asked for in vain, and did against their own policy. */
  const complaints: string[] = [];

  async function answer(context: BrowserContext): Promise<void> {
    await context.route('**/*', async (route) => {
      const { pathname } = new URL(route.request().url());
      const state = shown.get(route.request().frame().page());
      if (pathname === '/' && state)
        return route.fulfill({ headers: { ...state.headers }, body: state.html });
      const picture = PICTURES.get(pathname);
      if (picture) return route.fulfill(picture);
      complaints.push(`${state && titleOf(state)} asks for ${route.request().url()}`);
      return route.abort();
    });
  }

  async function open({ script, ...options }: Options = {}): Promise<Page> {
    const context = await browser.newContext(options);
    await answer(context);
    if (script !== undefined) await context.addInitScript({ content: script });
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

  const examine: Site['examine'] = async (states, options, problemsOn) => {
    const found: string[] = [];
    const waiting = [...states];
    const examineNext = async () => {
      const page = await open(options);
      for (let state = waiting.shift(); state !== undefined; state = waiting.shift()) {
        await show(page, state);
        await unfold(page);
        const title = titleOf(state);
        found.push(...(await problemsOn(page, state)).map((problem) => `${title}: ${problem}`));
      }
      await page.context().close();
    };
    await Promise.all(Array.from({ length: PAGES_AT_ONCE }, examineNext));
    return [...found, ...complaints.splice(0)];
  };

  return { open, show, examine, close: () => browser.close() };
}

/** Opens all that the page folds away. */
export async function unfold(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true;
  });
}
