import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LANGUAGES } from '../../src/languages/languages.ts';
import { brokenWords, moving, overflowing, smallTargets, unseen } from './measures.ts';
import { openSite, type Site } from './site.ts';
import { ALL_STATES, type State } from './states.ts';

// What no page may do, in any state and language, on any screen. No picture is compared: fonts differ from machine to machine.

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());

const TIME = { timeout: 120_000 };
const PHONE = { viewport: { width: 390, height: 844 } };

describe.each(LANGUAGES)('in %s', (language) => {
  const states = ALL_STATES.filter((state) => state.language === language);

  it(
    'every state fits a screen of 320 px, and one of 1280 px at 400 %, has targets for fingers, and nothing moves',
    TIME,
    async () => {
      // 1280 by 1024 at 400 % is 320 by 256 (WCAG 2.2, 1.4.10).
      const options = { viewport: { width: 320, height: 256 }, reducedMotion: 'reduce' } as const;
      const problems = await site.examine(states, options, async (page, state) => [
        ...(await page.evaluate(overflowing)),
        ...(await page.evaluate(smallTargets)),
        ...(await page.evaluate(moving)),
        ...(await torn(page, state)),
      ]);
      expect(problems).toEqual([]);
    },
  );

  it(
    'every state fits a phone and a desktop with text of 200 %, and no word of ours is torn',
    TIME,
    async () => {
      const problems = await site.examine(states, PHONE, async (page, state) => {
        await page.evaluate(() => {
          document.documentElement.style.fontSize = '200%';
        });
        const phone = [...(await page.evaluate(overflowing)), ...(await torn(page, state))];
        await page.setViewportSize({ width: 1280, height: 800 });
        const desktop = [...(await page.evaluate(overflowing)), ...(await torn(page, state))];
        await page.setViewportSize(PHONE.viewport);
        return [...phone, ...desktop];
      });
      expect(problems).toEqual([]);
    },
  );

  it('every text, icon, edge and focus ring is seen in forced colours', TIME, async () => {
    const problems = await site.examine(states, PHONE, async (page) => {
      const text = await page.locator('body').innerText();
      await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' });
      const hidden = (await page.locator('body').innerText()) === text ? [] : ['a text is gone'];
      const light = await page.evaluate(unseen);
      await page.emulateMedia({ colorScheme: 'dark' });
      const dark = await page.evaluate(unseen);
      await page.emulateMedia({ forcedColors: 'none', colorScheme: 'light', reducedMotion: 'no-preference' });
      return [...hidden, ...light, ...dark];
    });
    expect(problems).toEqual([]);
  });
});

async function torn(page: Page, { name }: State): Promise<string[]> {
  // Where hostile names are whole texts, no words are ours.
  return name.includes('hostile') ? [] : page.evaluate(brokenWords);
}
