import type { Page } from 'playwright-core';

// What a screen reader finds, as files that a review shows.

export type Outline = readonly [name: string, lines: readonly string[]];

/** What a screen reader finds in some part of a page, without addresses and the ends of long words. */
export async function outlineOf(page: Page, selector: string): Promise<string[]> {
  const outline = await page.locator(selector).ariaSnapshot();
  return outline
    .replaceAll(/:\n +- \/url: .*|[\u2068\u2069]/g, '')
    .replaceAll(/(\S{40})\S{20,}/g, '$1…')
    .split('\n');
}

/** The first outline whole, and of the others what they have more (+) and less (-). */
export function asDifferences([first, ...others]: readonly Outline[]): string {
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

/** The texts of the outlines, each under the first state that has it. */
export function asTexts(outlines: readonly Outline[]): string {
  const said = new Set<string>();
  return print(
    outlines.map(([name, lines]): Outline => {
      const texts = lines.map(textIn).filter((text) => /\p{L}/u.test(text) && !said.has(text));
      for (const text of texts) said.add(text);
      return [name, [...new Set(texts)]];
    }),
  );
}

/** What follows the role in a line, without attributes and quotes: `- heading "Sign in" [level=1]`, `- text: Login`. */
function textIn(line: string): string {
  const text = line.replace(/^\s*- '?[a-z]+:? ?/, '').replaceAll(/ ?\[[a-z]+(=\w+)?\]/g, '');
  return text.replace(/^"(.*)"'?$/, '$1');
}

function print(outlines: readonly Outline[]): string {
  return outlines
    .filter(([, lines]) => lines.length > 0)
    .map(([name, lines]) => `# ${name}\n${lines.join('\n')}\n`)
    .join('\n');
}
