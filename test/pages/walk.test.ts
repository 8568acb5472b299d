import { readdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILT_IN_TAGS } from '../../src/languages/languages.ts';
import { PSEUDO_TAGS, type Tag } from '../support/languages.ts';
import { CHECKS, DESKTOP, resize } from './checks.ts';
import { openSite, type Site } from './site.ts';
import { ALL_STATES, PSEUDO_STATES, type State, titleOf } from './states.ts';

// One walk over every state in a browser, in each language: what CHECKS finds, and what a screen reader does. In English that is
// in outlines/, a file for each page; the other languages have the same structure.
// `npx vitest run test/pages/walk.test.ts -u` writes the files anew.

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());

/** Against hanging only. */
const WALK_MS = 900_000;

/** These break layouts, and have nothing to read that others don't. */
const FOR_LAYOUT = /hostile|long|account, full|right to left/;
/** The page whose head and foot stand for those of all. */
const LAYOUT = 'consent';

const TO_READ = ALL_STATES.filter(({ name, brand }) => brand === 'built-in' && !FOR_LAYOUT.test(name));
const PAGES = ['layout', ...new Set(TO_READ.map(({ page }) => page.name))];

type Outline = readonly [name: string, lines: readonly string[]];

/** What a walk in one language finds. */
interface Walk {
  readonly problems: ReadonlyMap<string, string[]>;
  /** Requests for missing files, and violations of a content security policy. */
  readonly complaints: readonly string[];
  /** Of a page: its main part in each state. Of the layout: head and foot under each brand. */
  outlinesOf(page: string): Outline[];
}

const walks = new Map<Tag, Promise<Walk>>();
function walkIn(language: Tag): Promise<Walk> {
  const walk = walks.get(language) ?? takeWalk(language);
  walks.set(language, walk);
  return walk;
}

async function takeWalk(language: Tag): Promise<Walk> {
  const states = [...ALL_STATES, ...PSEUDO_STATES].filter((state) => state.language === language);
  const problems = new Map(Object.keys(CHECKS).map((check) => [check, [] as string[]]));
  /** By state: of its head and foot, and of what is between. */
  const [edges, mains] = [new Map<State, string[]>(), new Map<State, string[]>()];
  const complaints = await site.walk(states, async (page, state) => {
    await resize(page, DESKTOP);
    if (state.name === LAYOUT)
      edges.set(state, [...(await outlineOf(page, 'header')), ...(await outlineOf(page, 'footer'))]);
    if (TO_READ.includes(state)) mains.set(state, await outlineOf(page, 'main'));
    for (const [name, check] of Object.entries(CHECKS))
      for (const problem of await check(page, state))
        problems.get(name)?.push(`${titleOf(state)}: ${problem}`);
  });
  const outlinesOf = (page: string) =>
    states.flatMap((state): Outline[] => {
      const lines = page === 'layout' ? edges.get(state) : page === state.page.name && mains.get(state);
      return lines ? [[page === 'layout' ? state.brand : state.name, lines]] : [];
    });
  return { problems, complaints, outlinesOf };
}

describe.each([...BUILT_IN_TAGS, ...PSEUDO_TAGS])('in %s', (language) => {
  let walk: Walk;
  beforeAll(async () => {
    walk = await walkIn(language);
  }, WALK_MS);

  it.each(Object.keys(CHECKS))('%s', (check) => {
    expect(walk.problems.get(check)).toEqual([]);
  });

  it('no page requests a missing file or violates its content security policy', () => {
    expect(walk.complaints).toEqual([]);
  });
});

it.each(PAGES)(
  'the screen reader outlines of the page %s are as recorded in English',
  async (page) => {
    const { outlinesOf } = await walkIn('en');
    await expect(asDifferences(outlinesOf(page))).toMatchFileSnapshot(`outlines/${page}.txt`);
  },
  WALK_MS,
);

async function structureIn(language: Tag) {
  const { outlinesOf } = await walkIn(language);
  return PAGES.map((page) => [page, outlinesOf(page).map(withoutTexts)]);
}

it.each(BUILT_IN_TAGS.filter((language) => language !== 'en'))(
  'the outlines of all pages have the same structure in %s as in English',
  async (language) => {
    expect(await structureIn(language)).toEqual(await structureIn('en'));
  },
  2 * WALK_MS,
);

it('outlines/ has one file for each page, and no other', () => {
  const files = readdirSync(new URL('outlines', import.meta.url));
  expect(files).toEqual(PAGES.map((page) => `${page}.txt`).toSorted());
});

/** A screen reader's view of a part of a page, without addresses and the ends of long words. */
async function outlineOf(page: Page, selector: string): Promise<string[]> {
  const outline = await page.locator(selector).ariaSnapshot();
  return outline
    .replaceAll(/:\n +- \/url: .*|[\u2068\u2069]/g, '')
    .replaceAll(/(\S{40})\S{20,}/g, '$1…')
    .split('\n');
}

/** The first outline whole, and of the others what they have more (+) and less (-). */
function asDifferences([first, ...others]: readonly Outline[]): string {
  const lines = first?.[1] ?? [];
  return print([
    ...(first === undefined ? [] : [first]),
    ...others.map(
      ([name, own]): Outline => [name, [...without(own, lines, '+'), ...without(lines, own, '-')]],
    ),
  ]);
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

const withoutTexts = ([name, lines]: Outline): Outline => [name, lines.map(roleIn)];

/** The role and attributes of a line such as `- heading "Sign in" [level=1]` or `- text: Login`. */
function roleIn(line: string): string {
  const role = /^\s*- '?[a-z]+/.exec(line)?.[0] ?? line;
  return [role.replace("'", ''), ...(line.match(/\[[a-z]+(=\w+)?\](?=[^"]*$)/g) ?? [])].join(' ');
}

function print(outlines: readonly Outline[]): string {
  return outlines
    .filter(([, lines]) => lines.length > 0)
    .map(([name, lines]) => `# ${name}\n${lines.join('\n')}\n`)
    .join('\n');
}
