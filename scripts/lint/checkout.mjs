import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

/** A fault, or with `isWarning` a limit that a good reason may exceed. `at` is its place in the text of the file. */
/** @typedef {{ file: string, at?: number, says: string, isWarning?: boolean }} Finding */

/** The test of the linter: its faults are samples. */
export const SAMPLES = 'test/lintDocs.test.ts';

/** The files of a folder that Git keeps, read once each. @param {string} root */
export function openCheckout(root) {
  const texts = new Map();
  const read = (/** @type {string} */ file) => {
    const text = texts.get(file) ?? readFileSync(posix.join(root, file), 'utf8');
    texts.set(file, text);
    return text;
  };
  const made = ['.git', ...[...read('.gitignore').matchAll(/^(.+)\/$/gm)].map(([, folder = '']) => folder)];
  const filesIn = (folder) =>
    readdirSync(posix.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = folder + entry.name;
      if ([entry.name, path, `/${path}`].some((name) => made.includes(name))) return [];
      return entry.isDirectory() ? filesIn(`${path}/`) : [path];
    });
  /** @type {string[]} every file by its path from the root */
  const files = filesIn('').sort();
  const documents = files.filter((file) => file.endsWith('.md'));
  return {
    read,
    /** Folders that are made or installed. */
    made,
    files,
    documents,
    /** README.md and the pages of docs/. */
    book: documents.filter((file) => /^(README\.md|docs\/.+)$/.test(file)),
    /** The compiled files of `src`. */
    sources: files.filter((file) => /^src\/.+\.ts$/.test(file)),
    /** The matches of a pattern's first group, with their places. @returns {{ text: string, at: number }[]} */
    find: (file, pattern) =>
      [...read(file).matchAll(pattern)].map(({ 1: text = '', index }) => ({ text, at: index })),
  };
}

/** @typedef {ReturnType<typeof openCheckout>} Checkout */

/** What a rule without anything to check says: its pattern no longer fits the file. */
export const expectSome = (found, file, what) =>
  found.length > 0 ? [] : [{ file, says: `the linter finds no ${what} here: adapt its rule` }];
