import { expectSome, SAMPLES } from './checkout.mjs';

// The trust pages quote tests by the id at the end of a title, such as `[codes-3]`: a title can be reworded without them.

/** At the end of a title. A text in brackets elsewhere is none. */
const ID = /\[([a-z][A-Za-z0-9]*(?:-[A-Za-z]+)*-\d+)\](?=['"`])/g;
/** In a document, outside of a link. */
const QUOTED = /\[([a-z][A-Za-z0-9]*(?:-[A-Za-z]+)*-\d+)\](?!\()/g;
const ROW = /\| `([\w/-]+)` \[([\w-]+)\] \|$/;

const isTrustPage = (file) => file.startsWith('docs/trust/');

/** The rows of the tables with a column of tests, without their heads. */
const rowsOf = ({ find }, page) =>
  find(page, /^\|.*\| Test \|\n\|[-|]+\|\n((?:\|.*\|\n?)+)/gm).flatMap(({ text }) => text.trim().split('\n'));

/** Every row of the trust pages ends with the file and the id of a test that exists. */
export function findUnprovenRows(checkout) {
  const { documents, files, read } = checkout;
  return documents.filter(isTrustPage).flatMap((file) => {
    const rows = rowsOf(checkout, file);
    const at = (row) => read(file).indexOf(row);
    return [
      ...expectSome(rows, file, 'row with a test'),
      ...rows.flatMap((row) => {
        const [, name, id] = ROW.exec(row) ?? [];
        const test = `test/${name}.test.ts`;
        if (id === undefined)
          return [{ file, at: at(row), says: 'a row ends without `file` [id] of its test' }];
        if (files.includes(test) && read(test).includes(`[${id}]`)) return [];
        return [{ file, at: at(row), says: `no title in ${test} ends with [${id}]` }];
      }),
    ];
  });
}

/** An id that a document quotes exists once in test/, and each there is quoted. */
export function findUnmatchedIds({ files, documents, find }) {
  const inFiles = (ones, pattern) =>
    ones.flatMap((file) => find(file, pattern).map((one) => ({ ...one, file })));
  const given = inFiles(
    files.filter((file) => /^test\/.+\.test\.ts$/.test(file) && file !== SAMPLES),
    ID,
  );
  const quoted = inFiles(documents, QUOTED);
  const ids = new Set(given.map(({ text }) => text));
  const wanted = new Set(quoted.map(({ text }) => text));
  return [
    ...quoted
      .filter(({ text, file }) => !isTrustPage(file) && !ids.has(text))
      .map(({ file, at, text }) => ({ file, at, says: `no title of a test ends with [${text}]` })),
    ...given
      .filter(({ text }) => !wanted.has(text))
      .map(({ file, at, text }) => ({ file, at, says: `no document quotes [${text}]` })),
    ...given
      .filter(({ text }, place) => given.findIndex((other) => other.text === text) < place)
      .map(({ file, at, text }) => ({ file, at, says: `another title ends with [${text}] too` })),
  ];
}

const VULNERABILITIES = 'docs/trust/vulnerabilities.md';
/** The id of a CVE has the year. */
const PUBLISHED = /^(?:(CVE-\d{4}-\d{4,}) \S.*|(GHSA(?:-[0-9a-z]{4}){3}) \S.* 20\d\d)$/;

/** Each vulnerability stands in one row, as its published id and product, and the year if the id has none. */
export function findUnclearVulnerabilities(checkout) {
  const seen = new Set();
  return rowsOf(checkout, VULNERABILITIES).flatMap((row) =>
    (row.split(' | ')[1]?.split(', ') ?? []).flatMap((name) => {
      const [, cve, id = cve] = PUBLISHED.exec(name) ?? [];
      const isRepeated = seen.has(id);
      if (id !== undefined) seen.add(id);
      const finding = { file: VULNERABILITIES, at: checkout.read(VULNERABILITIES).indexOf(row) };
      if (id === undefined) return [{ ...finding, says: `not an id and a product, or no year: ${name}` }];
      return isRepeated ? [{ ...finding, says: `${id} stands in an earlier row too` }] : [];
    }),
  );
}
