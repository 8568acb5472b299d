import { readdirSync, readFileSync } from 'node:fs';

// The files of the checkout that are kept, and the parts of its documents.

export const root = new URL('../../', import.meta.url);
export const read = (file: string) => readFileSync(new URL(file, root), 'utf8');

/** The matches of the first group of a pattern. */
export const find = (file: string, pattern: RegExp) =>
  [...read(file).matchAll(pattern)].map(([, found = '']) => found);

/** Folders that are made or installed, and not kept. */
export const made = ['.git', ...find('.gitignore', /^(.+)\/$/gm)];
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
export const files = filesIn('');
export const documents = files.filter((file) => file.endsWith('.md'));
/** README.md and the pages of docs/. */
export const book = documents.filter((file) => /^(README\.md|docs\/.+)$/.test(file));

/** The headings of a document, as links name them. */
export const anchorsOf = (document: string) =>
  find(document, /^#+ (.+)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\d _-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** Links and pictures within the checkout: the path of each from the root, and the heading, '' for none. */
export function linksOf(document: string) {
  const links = read(document).matchAll(/\]\(([^):]+)\)|src(?:set)?="([^":]+)"/g);
  return [...links].map(([, link, image]) => {
    const { href, hash } = new URL(link ?? image ?? '', new URL(document, root));
    return { path: href.replace(hash, '').slice(root.href.length) || '.', heading: hash.slice(1) };
  });
}
