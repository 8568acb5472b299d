import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = new URL('../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');

const documents = ['README.md', ...readdirSync(new URL('docs', root)).map((file) => `docs/${file}`)].filter(
  (file) => file.endsWith('.md'),
);

describe('docs/conformance.md', () => {
  const rows = [...read('docs/conformance.md').matchAll(/\| `([\w/-]+)`: (.+?) \|$/gm)];

  it('has a test in every row', () => {
    const lines = read('docs/conformance.md')
      .split('\n')
      .filter((line) => /^\| (?!Clause|Section|-)/.test(line));
    expect(rows.length).toBe(lines.length);
    expect(rows.length).toBeGreaterThan(40);
  });

  it.each(rows.map(([, file, title]) => [file, title]))(
    'names a test that is there: %s, %s',
    (file, title) => {
      expect(read(`test/${file}.test.ts`)).toContain(title);
    },
  );
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
    const [, variables = ''] = read('src/config.ts').split('const VARIABLES = {');
    const names = [...read('src/config.ts').matchAll(/^ {2}([A-Z][A-Z_]+): z?/gm)].map(
      (match) => match[1] ?? '',
    );
    expect(variables).not.toBe('');
    expect(names.length).toBeGreaterThan(9);
    for (const name of names) expect(read('docs/operating.md')).toContain(`\`${name}\``);
  });
});
