import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { it } from 'vitest';
import { BUILT_IN_TAGS } from '../../src/languages/languages.ts';
import type { Tag } from '../support/languages.ts';
import { ASSETS, LOOKS } from './looks.ts';
import { openSite, type Site } from './site.ts';
import { type State, statesOf } from './states.ts';

// `npm run pages`. Node 20 runs no TypeScript by itself, and vitest is there.

const ROOT = new URL('../../', import.meta.url);

it('renders the gallery: pages/index.html', async () => {
  await writeGallery(fileURLToPath(new URL('pages', ROOT)));
});

it('renders the pictures: docs/pages-*.png', { timeout: 60_000 }, async () => {
  const site = await openSite();
  try {
    await takePictures(site, fileURLToPath(new URL('docs', ROOT)));
  } finally {
    await site.close();
  }
});

const THEMES = ['light', 'dark'] as const;

/** Writes every state in each language, theme and brand as a page of its own, and `index.html`, which shows them. */
async function writeGallery(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const write = (path: string, content: string | Buffer) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  for (const [path, { body }] of ASSETS) write(path, body);
  for (const language of BUILT_IN_TAGS) {
    for (const brand of Object.keys(LOOKS)) {
      for (const state of await statesOf(language, brand)) {
        for (const theme of THEMES)
          write(`${language}/${brand}/${theme}/${fileOf(state)}`, inTheme(state, theme));
      }
    }
  }
  write('index.html', await indexPage());
}

function fileOf({ name }: Pick<State, 'name'>): string {
  return `${name.replaceAll(/\W+/g, '-')}.html`;
}

/** The page, in a theme whatever the reader's own is, with its style in it and its pictures beside it. */
function inTheme({ html }: State, theme: (typeof THEMES)[number]): string {
  return html
    .replace(
      /<link rel="stylesheet" href="([^"]+)">/,
      (_, path) => `<style>${ASSETS.get(path)?.body}</style>`,
    )
    .replaceAll('(prefers-color-scheme: dark)', theme === 'dark' ? 'all' : 'not all')
    .replaceAll(/color-scheme(: |" content=")light dark/g, `color-scheme$1${theme}`)
    .replaceAll(/(src|href)="\/(brand|logo)\//g, '$1="../../../$2/');
}

async function indexPage(): Promise<string> {
  const names = (await statesOf('en', 'built-in')).map((state) => [state.name, fileOf(state)]);
  const choices = { language: BUILT_IN_TAGS, brand: Object.keys(LOOKS), theme: THEMES, states: names };
  const template = readFileSync(new URL('index.html', import.meta.url), 'utf8');
  return template.replace('{/* choices */}', () => JSON.stringify(choices).replaceAll('<', '\\u003c'));
}

const SHOTS = [
  { name: 'sign-in', part: 'beginning' },
  { name: 'consent, earlier', part: 'beginning' },
  { name: 'consent, earlier', part: 'end' },
  { name: 'account', part: 'beginning' },
] as const;
const PHONE = { width: 390, height: 844 };

/** Writes the pictures that README.md shows, `pages-en.png` and `pages-en-dark.png`, and one of each other language. */
async function takePictures(site: Site, folder: string): Promise<void> {
  const light = BUILT_IN_TAGS.map((language) => [language, 'light'] as const);
  for (const [language, colorScheme] of [...light, [BUILT_IN_TAGS[0], 'dark'] as const]) {
    const page = await site.open({ colorScheme, viewport: PHONE });
    const shots = await takeShots(site, page, language);
    const file = `pages-${language}${colorScheme === 'dark' ? '-dark' : ''}.png`;
    writeFileSync(join(folder, file), await besideEachOther(page, shots));
    await page.context().close();
  }
}

async function takeShots(site: Site, page: Page, language: Tag): Promise<Buffer[]> {
  const shots: Buffer[] = [];
  for (const { name, part } of SHOTS) {
    const state = (await statesOf(language, 'trial')).find((one) => one.name === name);
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
