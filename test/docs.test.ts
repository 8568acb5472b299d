import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = new URL('../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');
/** What the first group of a pattern finds. */
const find = (file: string, pattern: RegExp) =>
  [...read(file).matchAll(pattern)].map(([, found = '']) => found);

/** Folders that are made or installed, and not kept. */
const made = ['.git', ...find('.gitignore', /^(.+)\/$/gm)];
const isKept = (file: string) => !made.some((folder) => `/${file}/`.includes(`/${folder}/`));

function filesIn(folder: string): string[] {
  const entries = readdirSync(new URL(`./${folder}`, root), { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = folder + entry.name;
    if (!isKept(path)) return [];
    return entry.isDirectory() ? filesIn(`${path}/`) : [path];
  });
}

/** Every file that is kept, by its path from the root. */
const files = filesIn('');
const documents = files.filter((file) => file.endsWith('.md'));

/** Where a document's links and pictures lead to within the checkout, by their paths from the root. */
function linksOf(document: string): string[] {
  const links = read(document).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)|src(?:set)?="([^":]+)"/g);
  return [...links].map(
    ([, link, image]) =>
      new URL(link ?? image ?? '', new URL(document, root)).href.slice(root.href.length) || '.',
  );
}

const headingsOf = (document: string) => find(document, /^#+ (.+)$/gm);

/** A heading as links name it. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\d _-]/gu, '')
    .replaceAll(' ', '-');

/** The rows of a document's tables that end with a test: the file and the beginning of the title. */
const testsOf = (document: string) =>
  [...read(document).matchAll(/\| `([\w/-]+)`: (.+?) \|$/gm)].map(
    ([, file, title = '']) => [file, title] as const,
  );

/** Every row of a document's tables but their heads. */
const rowsOf = (document: string) => find(document, /^(\| (?!Clause|Section|Id|Attack|-).*)$/gm);

describe.each(['docs/conformance.md', 'docs/vulnerabilities.md', 'docs/security.md'])('%s', (document) => {
  it('has a test in every row', () => {
    expect(testsOf(document).length).toBe(rowsOf(document).length);
    expect(rowsOf(document).length).toBeGreaterThan(30);
  });

  it.each(testsOf(document))('names a test that is there: %s, %s', (file, title) => {
    expect(read(`test/${file}.test.ts`)).toContain(title);
  });
});

describe('docs/vulnerabilities.md', () => {
  const ids = rowsOf('docs/vulnerabilities.md').map((row) => row.split(' | ', 1)[0]?.slice(2) ?? '');

  it('names each vulnerability by its published id, once', () => {
    expect(ids.length).toBeGreaterThan(40);
    for (const id of ids) expect(id).toMatch(/^(CVE-\d{4}-\d{4,}|GHSA(-[0-9a-z]{4}){3})$/);
    expect(ids).toEqual([...new Set(ids)]);
  });

  it('says of each what is given, when what happens, and what then', () => {
    for (const row of rowsOf('docs/vulnerabilities.md')) {
      const [, where, , here] = row.split(' | ');
      expect(where).toMatch(/^\S.*, 20\d\d$/);
      expect(here).toMatch(/^given .+, when .+, then .+/);
    }
  });
});

const GUIDES = ['docs/integrating.md', 'docs/resources.md'];

/** Whether `name` is a file or folder of the checkout, or the end of the path of one. */
const isNamed = (name: string) => files.some((file) => `/${file}/`.includes(`/${name}/`));

describe('the documents', () => {
  it.each(documents)('%s links only to what is there', (document) => {
    const known = [...files, ...files.map((file) => `${file}/`)];
    expect(linksOf(document).filter((link) => !known.includes(link))).toEqual([]);
    const anchors = headingsOf(document).map(anchorOf);
    expect(find(document, /\]\(#([^)]+)\)/g).filter((anchor) => !anchors.includes(anchor))).toEqual([]);
  });

  it.each(documents)('%s names only files that are there', (document) => {
    const names = /`(?:\.\.\/)*([\w./-]+(?:\.(?:ts|js|mjs|sql|eta|css|md|txt|svg)|\/))`/g;
    const missing = find(document, names)
      .map((name) => name.replace(/\/$/, ''))
      // The examples of the guides are saved under names of their own, without a folder.
      .filter((name) => !GUIDES.includes(document) || name.includes('/'))
      .filter((name) => !made.includes(name) && !isNamed(name));
    expect(missing).toEqual([]);
  });

  it('are all reached from README.md, and so are the pictures', () => {
    const reached = new Set(['README.md']);
    for (const document of reached) {
      if (document.endsWith('.md')) for (const link of linksOf(document)) reached.add(link);
    }
    const wanted = [...documents, ...files.filter((file) => /^docs\/.+\./.test(file))];
    expect(wanted.filter((file) => !reached.has(file))).toEqual([]);
  });

  it('have the sections that messages lead to', () => {
    const operatorFiles = find('src/config/config.ts', /fromFile\('(\w+)'/g).map((name) =>
      name.toLowerCase(),
    );
    const anchors = headingsOf('docs/configuration.md').map(anchorOf);
    expect(anchors).toEqual(expect.arrayContaining(['environment', 'brand', ...operatorFiles]));
  });

  it('docs/configuration.md describes every variable of the configuration', () => {
    const names = find('src/config/variables.ts', /^ {2}([A-Z][A-Z_]+): z?/gm);
    expect(names.length).toBeGreaterThan(9);
    for (const name of names) expect(read('docs/configuration.md')).toContain(`\`${name}\``);
  });

  it.each(documents)('%s names headings that are there, above or below', (document) => {
    const headings = headingsOf(document);
    const named = read(document).matchAll(/"([A-Z][^"]+)" (above|below)/g);
    for (const [whole, heading = '', direction] of named) {
      expect({ whole, isThere: headings.includes(heading) }).toEqual({ whole, isThere: true });
      const isAbove = read(document).indexOf(`# ${heading}\n`) < read(document).indexOf(whole);
      expect({ whole, direction: isAbove ? 'above' : 'below' }).toEqual({ whole, direction });
    }
  });
});
