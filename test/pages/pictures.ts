import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { LANGUAGES, type Language } from '../../src/languages/languages.ts';
import type { Site } from './site.ts';
import { statesOf } from './states.ts';

/** What stands beside each other in the picture of README: a state, as a phone shows its beginning or its end. */
const SHOTS = [
  { name: 'sign-in', part: 'beginning' },
  { name: 'consent, earlier', part: 'beginning' },
  { name: 'consent, earlier', part: 'end' },
  { name: 'account', part: 'beginning' },
] as const;
const BRAND = 'trial';
const PHONE = { width: 390, height: 844 };

/** Writes the pictures that README.md shows, `pages-en.png` and `pages-en-dark.png`, and one of each other language. */
export async function takePictures(site: Site, folder: string): Promise<void> {
  for (const language of LANGUAGES) {
    for (const colorScheme of language === LANGUAGES[0]
      ? (['light', 'dark'] as const)
      : (['light'] as const)) {
      const page = await site.open({ colorScheme, viewport: PHONE });
      const shots = await takeShots(site, page, language);
      const file = `pages-${language}${colorScheme === 'dark' ? '-dark' : ''}.png`;
      writeFileSync(join(folder, file), await besideEachOther(page, shots));
      await page.context().close();
    }
  }
}

async function takeShots(site: Site, page: Page, language: Language): Promise<Buffer[]> {
  const shots: Buffer[] = [];
  for (const { name, part } of SHOTS) {
    const state = statesOf(language, BRAND).find((one) => one.name === name);
    if (state === undefined) throw new Error(`there is no sample ${name}`);
    await site.show(page, state);
    if (part === 'end') await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    shots.push(await page.screenshot({ caret: 'hide' }));
  }
  return shots;
}

async function besideEachOther(page: Page, shots: readonly Buffer[]): Promise<Buffer> {
  const images = shots.map((shot) => `<img src="data:image/png;base64,${shot.toString('base64')}">`);
  const style =
    'body { margin: 0; display: flex; gap: 24px } img { border: 1px solid gray; border-radius: 24px }';
  const width = shots.length * (PHONE.width + 26) - 24;
  await page.goto('about:blank');
  await page.setViewportSize({ width, height: PHONE.height + 2 });
  await page.setContent(`<style>${style}</style>${images.join('')}`);
  return page.screenshot({ omitBackground: true });
}
