import { describe, expect, it } from 'vitest';
import { find, read } from './checkout.ts';

// Each row of the trust pages names the test that shows it.

const PAGES = ['docs/trust/conformance.md', 'docs/trust/security.md', 'docs/trust/vulnerabilities.md'];

/** Every row of the tables with a column of tests, but their heads. */
const rowsOf = (page: string) =>
  find(page, /^\|.*\| Test \|\n\|[-|]+\|\n((?:\|.*\|\n?)+)/gm).flatMap((rows) => rows.trim().split('\n'));

const testsOf = (page: string) =>
  rowsOf(page).map((row) => /\| `([\w/-]+)`: (.+) \|$/.exec(row)?.slice(1) ?? [row, '']);

describe.each(PAGES)('%s', (page) => {
  it('has more than 30 rows that name a test', () => {
    expect(rowsOf(page).length).toBeGreaterThan(30);
  });

  it.each(testsOf(page))('names an existing test: %s, %s', (file, title) => {
    expect(title).not.toBe('');
    expect(read(`test/${file}.test.ts`)).toContain(title);
  });
});

it('docs/trust/vulnerabilities.md names each vulnerability once by its published id, product and year', () => {
  const named = rowsOf('docs/trust/vulnerabilities.md').flatMap(
    (row) => row.split(' | ')[1]?.split(', ') ?? [],
  );
  for (const one of named) expect(one).toMatch(/^(?:CVE-\d{4}-\d{4,}|GHSA(?:-[0-9a-z]{4}){3}) \S.* 20\d\d$/);
  const ids = named.map((one) => one.split(' ')[0]);
  expect(ids.length).toBeGreaterThan(100);
  expect(ids).toEqual([...new Set(ids)]);
});
