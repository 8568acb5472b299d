import { posix } from 'node:path';

// Limits of what a reader takes in at once. They are warnings: what is cut should follow from the subject.

const KILOBYTE = 1000;
const MAX_PAGE = 18 * KILOBYTE;
const MAX_BOOK = 320 * KILOBYTE;
const MAX_README_LINES = 90;
const MAX_INTRODUCTION_LINES = 8;
const MAX_FILES = 14;

const warn = (file, says) => ({ file, says, isWarning: true });
const linesOf = (text) => text.trim().split('\n').length;

/** Pages of the book, the book as a whole, and README.md. */
export function findLargePages({ book, read }) {
  const sizes = book.map((file) => ({ file, bytes: Buffer.byteLength(read(file)) }));
  const sum = sizes.reduce((total, { bytes }) => total + bytes, 0);
  const lines = linesOf(read('README.md'));
  return [
    ...sizes
      .filter(({ bytes }) => bytes > MAX_PAGE)
      .map(({ file, bytes }) => warn(file, `has ${bytes} bytes, more than ${MAX_PAGE}`)),
    ...(sum > MAX_BOOK ? [warn('docs/', `all pages have ${sum} bytes, more than ${MAX_BOOK}`)] : []),
    ...(lines > MAX_README_LINES
      ? [warn('README.md', `has ${lines} lines, more than ${MAX_README_LINES}`)]
      : []),
  ];
}

/** Folders of `src` with many files, or with a long introduction. */
export function findLargeFolders({ sources, files, read }) {
  const folders = [...new Set(sources.map((file) => posix.dirname(file)))];
  const introductions = [...folders, 'demo'].map((folder) => `${folder}/README.md`);
  return [
    ...folders
      .map((folder) => [folder, sources.filter((file) => posix.dirname(file) === folder).length])
      .filter(([, count]) => count > MAX_FILES)
      .map(([folder, count]) => warn(`${folder}/`, `has ${count} files, more than ${MAX_FILES}`)),
    ...introductions
      .filter((file) => files.includes(file) && linesOf(read(file)) > MAX_INTRODUCTION_LINES)
      .map((file) => warn(file, `has ${linesOf(read(file))} lines, more than ${MAX_INTRODUCTION_LINES}`)),
  ];
}
