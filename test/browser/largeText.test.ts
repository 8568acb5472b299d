import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FORM_SCRIPT, lookOf } from '../../src/http/browser/look.ts';
import { pageHeaders, renderPage } from '../../src/http/browser/views.ts';
import { LANGUAGES, type Language } from '../../src/languages/languages.ts';
import { BUILT_IN_BRAND } from '../../src/rules/brand.ts';
import { pageSamplesIn } from '../http/pageSamples.ts';
import { launchChromium } from '../support/chromium.ts';

// Small screens, large text and the size of what one presses, on the samples of pages.

const ORIGIN = 'http://pages.localhost';
const support = { url: 'https://pay.example/help', phone: '+7 800 555-35-35', email: 'help@pay.example' };
const LOOK = lookOf({ brand: { ...BUILT_IN_BRAND, support }, baseUrl: ORIGIN });
const NAMES = [
  'sign-in after a wrong password',
  'payment-password',
  'reject, earlier',
  'consent',
  'consent, earlier',
  'consent, long',
  'account, full',
  'account, a page between others',
  'error: no_rights',
  'notice',
];
const cases = LANGUAGES.flatMap((language) => NAMES.map((name) => [language, name] as const));

let browser: Browser;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

/** Opens a sample as its server would send it. */
async function open(
  [language, name]: readonly [Language, string],
  options: BrowserContextOptions = {},
): Promise<void> {
  await context?.close();
  context = await browser.newContext(options);
  page = await context.newPage();
  const sample = pageSamplesIn(language)[name];
  if (sample === undefined) throw new Error(`no sample ${name}`);
  const body = renderPage(sample, language, LOOK, { action: '/language', fields: {} });
  await page.route('**/*', (route) =>
    new URL(route.request().url()).pathname === FORM_SCRIPT.path
      ? route.fulfill({ body: FORM_SCRIPT.body, contentType: 'text/javascript' })
      : route.fulfill({ body, headers: pageHeaders(sample, language, LOOK) }),
  );
  await page.goto(ORIGIN);
}

/** @param width of the window, in pixels @param percent the size of text */
async function resize(width: number, percent: number): Promise<void> {
  await page.setViewportSize({ width, height: 700 });
  await page.evaluate((size) => {
    document.documentElement.style.fontSize = `${size}%`;
  }, percent);
}

/** Words of buttons, headings and links that are cut although they fit a line there. */
const cutWords = () =>
  page.evaluate(() => {
    const roomOf = (element: Element): number => {
      const { display, paddingLeft, paddingRight } = getComputedStyle(element);
      if (display === 'inline') return roomOf(element.parentElement as Element);
      return element.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
    };
    const isCut = (text: Text, start: number, end: number): boolean => {
      const range = new Range();
      range.setStart(text, start);
      range.setEnd(text, end);
      const boxes = [...range.getClientRects()];
      const width = boxes.reduce((sum, box) => sum + box.width, 0);
      const lines = new Set(boxes.filter((box) => box.width > 0).map((box) => Math.round(box.top)));
      return lines.size > 1 && width <= roomOf(text.parentElement as Element);
    };
    const selector = 'h1, h2, h3, button, .button, label, footer a';
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const cut: string[] = [];
    while (texts.nextNode()) {
      const text = texts.currentNode as Text;
      if (text.parentElement?.closest(selector) === null) continue;
      for (const { index, 0: word } of text.data.matchAll(/[\p{L}\p{N}]+/gu)) {
        if (isCut(text, index, index + word.length)) cut.push(word);
      }
    }
    return cut;
  });

const overflow = () =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth - clientWidth;
  });

/** What can be pressed and is lower or narrower than a finger, in pixels. */
const tooSmall = () =>
  page.evaluate(() =>
    [...document.querySelectorAll('button, .button, input, summary, footer a, main a')].flatMap((element) => {
      const { width, height } = element.getBoundingClientRect();
      // A link in a sentence is as high as its line.
      const isInSentence =
        element.matches('p a') && element.textContent !== element.parentElement?.textContent;
      const isThere = width > 1 && height > 1 && !isInSentence;
      return isThere && (width < 44 || height < 44) ? [`${element.outerHTML} ${width}x${height}`] : [];
    }),
  );

describe.each(cases)('in %s the page "%s"', (...sample) => {
  beforeAll(() => open(sample));

  it('fits 320 pixels, which is also a zoom of 400 %, and large text on a phone and a desktop', async () => {
    for (const [width, percent] of [
      [320, 100],
      [320, 200],
      [640, 200],
      [1280, 200],
    ] as const) {
      await resize(width, percent);
      expect({ width, percent, overflow: await overflow(), cut: await cutWords() }).toEqual({
        width,
        percent,
        overflow: 0,
        cut: [],
      });
    }
  });

  it('has nothing to press that is smaller than 44 by 44 pixels', async () => {
    for (const width of [320, 1280]) {
      await resize(width, 100);
      expect(await tooSmall()).toEqual([]);
    }
  });

  it('has icons that grow with the text', async () => {
    const heights = () =>
      page.locator('svg').evaluateAll((icons) => icons.map((icon) => icon.getBoundingClientRect().height));
    await resize(1280, 100);
    const before = await heights();
    await resize(1280, 200);
    expect(await heights()).toEqual(before.map((height) => height * 2));
  });
});

describe.each(LANGUAGES)('in %s', (language) => {
  it('Reject and Allow stand side by side, and one above the other in large text, of one size', async () => {
    const boxes = async () => [
      await page.locator('[value=reject]').boundingBox(),
      await page.locator('[value=allow]').boundingBox(),
    ];
    await open([language, 'consent']);
    for (const [width, percent, stacked] of [
      [1280, 100, false],
      [320, 100, false],
      [320, 200, true],
      [360, 200, true],
    ] as const) {
      await resize(width, percent);
      const [reject, allow] = await boxes();
      expect({ width, percent, stacked: (allow?.y ?? 0) > (reject?.y ?? 0) }).toEqual({
        width,
        percent,
        stacked,
      });
      expect([allow?.width, allow?.height]).toEqual([reject?.width, reject?.height]);
    }
  });
});

describe('forced colours', () => {
  it.each(['sign-in after a wrong password', 'consent, earlier'])(
    'leave every button, field and box of "%s" a border, and the focus a ring',
    async (name) => {
      await open(['en', name], { forcedColors: 'active' });
      const bare = await page
        .locator('main :is(button:not(.link), input:not([type=hidden], [aria-hidden]), .note, .spending)')
        .evaluateAll(
          (elements) =>
            elements.filter((element) => {
              const { borderBottomStyle, borderBottomWidth } = getComputedStyle(element);
              return borderBottomStyle === 'none' || Number.parseFloat(borderBottomWidth) === 0;
            }).length,
        );
      expect(bare).toBe(0);
      await page.keyboard.press('Tab');
      const ring = await page.evaluate(() => {
        const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement as Element);
        return [outlineStyle, outlineWidth];
      });
      expect(ring).toEqual(['solid', '3px']);
    },
  );
});
