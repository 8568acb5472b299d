import type axe from 'axe-core';
import { source } from 'axe-core';
import type { Page } from 'playwright-core';
import { brokenWords, moving, overflowing, smallTargets, unseen } from './measures.ts';
import { isDistinct, type State } from './states.ts';

// Checks of every page, in each state, language and theme, on any screen, without exceptions. Pictures are not compared, because
// fonts differ between machines.

interface Screen {
  readonly width: number;
  readonly height: number;
  readonly text?: string;
  readonly colorScheme?: 'dark';
  readonly forcedColors?: 'active';
  readonly reducedMotion?: 'reduce';
}

export const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
/** 1280 by 1024 at 400 % (WCAG 2.2, 1.4.10). */
const SMALL = { width: 320, height: 256 };

export async function resize(page: Page, { width, height, text = '', ...media }: Screen): Promise<void> {
  await page.setViewportSize({ width, height });
  const usual = { colorScheme: 'light', forcedColors: 'none', reducedMotion: 'no-preference' } as const;
  await page.emulateMedia({ ...usual, ...media });
  await page.evaluate((size) => {
    document.documentElement.style.fontSize = size;
  }, text);
}

/** All that depends on colours: nothing else of a page differs between themes. */
const COLOURS = ['color-contrast', 'link-in-text-block'];
const EVERYTHING = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa', 'best-practice'];

/** @returns what is wrong with the page, which has unfolded all that it folds away */
type Check = (page: Page, state: State) => Promise<string[]>;

/** Those on screens with reduced motion stand last: an animation begins again where it is allowed again. */
export const CHECKS: Readonly<Record<string, Check>> = {
  'every page passes axe in light and dark mode': async (page, state) => {
    if (!isDistinct(state)) return [];
    await page.evaluate(source);
    await resize(page, DESKTOP);
    const light = await axeProblems(page, { type: 'tag', values: EVERYTHING });
    await resize(page, { ...DESKTOP, colorScheme: 'dark' });
    const dark = await axeProblems(page, { type: 'rule', values: COLOURS });
    return [...light, ...dark.map((problem) => `dark: ${problem}`)];
  },

  'every page fits phones and desktops with 200 % text, and splits no built-in word': async (page, state) => {
    const problems: string[] = [];
    for (const screen of [DESKTOP, PHONE]) {
      await resize(page, { ...screen, text: '200%' });
      problems.push(...(await page.evaluate(overflowing)), ...(await torn(page, state)));
    }
    return problems;
  },

  'every receipt of an approval is printed on one page, of twelve rights under the longest names on two':
    async (page, { name }) => {
      if (!name.startsWith('approval')) return [];
      await resize(page, DESKTOP);
      const pdf = (await page.pdf({ format: 'A4' })).toString('latin1');
      const sheets = pdf.match(/\/Type \/Page\b/g)?.length ?? 0;
      const most = ['approval, long', 'approval, hostile'].includes(name) ? 2 : 1;
      return sheets >= 1 && sheets <= most ? [] : [`${sheets} pages`];
    },

  'every text, icon, edge and focus ring is visible in forced colours': async (page) => {
    await resize(page, PHONE);
    const text = await page.locator('body').innerText();
    const forced = { ...PHONE, forcedColors: 'active', reducedMotion: 'reduce' } as const;
    await resize(page, forced);
    const hidden = (await page.locator('body').innerText()) === text ? [] : ['a text is gone'];
    const light = await page.evaluate(unseen);
    await resize(page, { ...forced, colorScheme: 'dark' });
    return [...hidden, ...light, ...(await page.evaluate(unseen))];
  },

  'every page fits 320 px (1280 px at 400 %), has large touch targets, and obeys reduced motion': async (
    page,
    state,
  ) => {
    await resize(page, { ...SMALL, reducedMotion: 'reduce' });
    return [
      ...(await page.evaluate(overflowing)),
      ...(await page.evaluate(smallTargets)),
      ...(await page.evaluate(moving)),
      ...(await torn(page, state)),
    ];
  },
};

/** Violations, and what axe can't decide: that would hide one. */
async function axeProblems(page: Page, runOnly: axe.RunOnly): Promise<string[]> {
  const options: axe.RunOptions = { runOnly, resultTypes: ['violations', 'incomplete'], preload: false };
  const { violations, incomplete } = await page.evaluate(
    (options) => (window as unknown as { axe: typeof axe }).axe.run(options),
    options,
  );
  return [...violations, ...incomplete].flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)}: ${failureSummary}`),
  );
}

async function torn(page: Page, { name }: State): Promise<string[]> {
  // Where hostile names are whole texts, no words are ours.
  return name.includes('hostile') ? [] : page.evaluate(brokenWords);
}
