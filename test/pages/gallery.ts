import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LANGUAGES } from '../../src/languages/languages.ts';
import { ASSETS, LOOKS } from './looks.ts';
import { type State, statesOf } from './states.ts';

const THEMES = ['light', 'dark'] as const;

/** Writes every state in each language, theme and brand as a page of its own, and `index.html`, which shows them. */
export function writeGallery(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  const write = (path: string, content: string | Buffer) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  for (const [path, { body }] of ASSETS) write(path, body);
  for (const language of LANGUAGES) {
    for (const brand of Object.keys(LOOKS)) {
      for (const state of statesOf(language, brand)) {
        for (const theme of THEMES)
          write(`${language}/${brand}/${theme}/${fileOf(state)}`, inTheme(state, theme));
      }
    }
  }
  write('index.html', indexPage());
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

function indexPage(): string {
  const names = statesOf('en', 'built-in').map((state) => [state.name, fileOf(state)]);
  const choices = { language: LANGUAGES, brand: Object.keys(LOOKS), theme: THEMES, states: names };
  const template = readFileSync(new URL('index.html', import.meta.url), 'utf8');
  return template.replace('{/* choices */}', () => JSON.stringify(choices).replaceAll('<', '\\u003c'));
}
