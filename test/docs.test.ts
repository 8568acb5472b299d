import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = new URL('../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');

const folders = ['', 'docs/'];
const documents = folders
  .flatMap((folder) => readdirSync(new URL(`./${folder}`, root)).map((file) => folder + file))
  .filter((file) => file.endsWith('.md'));

/** The rows of a document's tables that end with a test: the file and the beginning of the title. */
function testsOf(document: string): [file: string, title: string][] {
  return [...read(document).matchAll(/\| `([\w/-]+)`: (.+?) \|$/gm)].map(([, file = '', title = '']) => [
    file,
    title,
  ]);
}

/** Every row of a document's tables but their heads. */
function rowsOf(document: string): string[] {
  return read(document)
    .split('\n')
    .filter((line) => /^\| (?!Clause|Section|Id|Attack|-)/.test(line));
}

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

describe('the documents', () => {
  it.each(documents)('%s names only files that are there', (document) => {
    const folder = document.includes('/') ? document.slice(0, document.lastIndexOf('/') + 1) : '';
    const links = [...read(document).matchAll(/\]\(([^)#:]+)\)|src="([^":]+)"/g)].map(
      (match) => match[1] ?? match[2] ?? '',
    );
    const sources = [
      ...read(document).matchAll(/`((?:src|test|docs|views|migrations)\/[\w./-]+\.\w+)`/g),
    ].map((match) => match[1] ?? '');
    for (const link of links) expect(() => readFileSync(new URL(folder + link, root))).not.toThrow();
    for (const source of sources) expect(() => readFileSync(new URL(source, root))).not.toThrow();
  });

  it('docs/operating.md describes every variable of the configuration', () => {
    const [, variables = ''] = read('src/variables.ts').split('const VARIABLES = {');
    const names = [...read('src/variables.ts').matchAll(/^ {2}([A-Z][A-Z_]+): z?/gm)].map(
      (match) => match[1] ?? '',
    );
    expect(variables).not.toBe('');
    expect(names.length).toBeGreaterThan(9);
    for (const name of names) expect(read('docs/operating.md')).toContain(`\`${name}\``);
  });
});
