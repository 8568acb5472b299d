import { afterAll, beforeAll, expect, it } from 'vitest';
import { LANGUAGES } from '../../src/languages/languages.ts';
import { openSite, type Site, unfold } from './site.ts';
import { ALL_STATES, isDistinct, type State, statesOf } from './states.ts';

// What a screen reader finds on each page, in a file per language that a review shows: the first state of a page whole, of
// its others what they have more (+) and less (-). `npx vitest run test/pages/outlines.test.ts -u` writes it anew.

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());

/** These break layouts, and have nothing to read that others don't. */
const FOR_LAYOUT = /hostile|long|twelve|full|right to left/;

it.each(LANGUAGES)(
  'the pages in %s have the outlines of outlines.*.txt',
  { timeout: 60_000 },
  async (language) => {
    const page = await site.open();
    const outlineOf = async (state: State, selector: string): Promise<string[]> => {
      await site.show(page, state);
      await unfold(page);
      const outline = await page.locator(selector).ariaSnapshot();
      return outline
        .replaceAll(/:\n +- \/url: .*|[\u2068\u2069]/g, '')
        .replaceAll(/(\S{40})\S{20,}/g, '$1…')
        .split('\n');
    };
    const parts: string[][] = [];
    for (const state of ALL_STATES.filter((one) => one.language === language && one.name === 'consent')) {
      const outline = [...(await outlineOf(state, 'header')), ...(await outlineOf(state, 'footer'))];
      parts.push([`# head and foot, ${state.brand}`, ...outline]);
    }
    const firsts = new Map<string, string[]>();
    for (const state of statesOf(language, 'built-in')
      .filter(isDistinct)
      .filter(({ name }) => !FOR_LAYOUT.test(name))) {
      const [outline, first] = [await outlineOf(state, 'main'), firsts.get(state.page.name)];
      parts.push([`# ${state.name}`, ...(first === undefined ? outline : difference(first, outline))]);
      firsts.set(state.page.name, first ?? outline);
    }
    const text = parts.map((lines) => `${lines.join('\n')}\n`).join('\n');
    await expect(text).toMatchFileSnapshot(`outlines.${language}.txt`);
    await page.context().close();
  },
);

/** The lines of two outlines that only one of them has, wherever they stand. */
function difference(first: readonly string[], outline: readonly string[]): string[] {
  return [...without(outline, first, '+'), ...without(first, outline, '-')];
}

function without(lines: readonly string[], others: readonly string[], sign: string): string[] {
  const left = [...others];
  return lines
    .filter((line) => !/- (list|listitem|definition|paragraph):$/.test(line))
    .filter((line) => {
      const at = left.indexOf(line);
      if (at >= 0) left.splice(at, 1);
      return at < 0;
    })
    .map((line) => `${sign} ${line.trim().replace(/^- /, '')}`);
}
