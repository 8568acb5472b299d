import type axe from 'axe-core';
import { source } from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LANGUAGES } from '../../src/languages/languages.ts';
import { openSite, type Site } from './site.ts';
import { ALL_STATES, isDistinct } from './states.ts';

// What axe-core finds wrong on any page, in any state, language and theme. There are no exceptions.

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());

const EVERYTHING = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa', 'best-practice'];
/** All that depends on colours: nothing else of a page differs between themes. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

describe.each(LANGUAGES)('in %s', (language) => {
  it('axe finds nothing wrong in any state, light and dark', {
    timeout: 180_000,
  }, async () => {
    const states = ALL_STATES.filter((state) => state.language === language).filter(isDistinct);
    const problems = await site.examine(states, { script: source }, async (page) => {
      const light = await axeProblems(page, 'light', { type: 'tag', values: EVERYTHING });
      await page.emulateMedia({ colorScheme: 'dark' });
      const dark = await axeProblems(page, 'dark', { type: 'rule', values: COLOURS });
      await page.emulateMedia({ colorScheme: 'light' });
      return [...light, ...dark];
    });
    expect(problems).toEqual([]);
  });
});

/** Violations, and what axe can't decide: that would hide one. */
async function axeProblems(page: Page, theme: string, runOnly: axe.RunOnly): Promise<string[]> {
  const options: axe.RunOptions = { runOnly, resultTypes: ['violations', 'incomplete'], preload: false };
  const { violations, incomplete } = await page.evaluate(
    (options) => (window as unknown as { axe: typeof axe }).axe.run(options),
    options,
  );
  return [...violations, ...incomplete].flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${theme}: ${id}: ${html.slice(0, 160)}: ${failureSummary}`),
  );
}
