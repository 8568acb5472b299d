import { posix } from 'node:path';
import { expectSome, SAMPLES } from './checkout.mjs';

// Links between documents, and from code to documents.

/** The headings of a document, as links name them. */
const anchorsOf = ({ find }, document) =>
  find(document, /^#+ (.+)$/gm).map(({ text }) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\d _-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** Links and pictures within the checkout: the path of each from the root, and the heading, '' for none. */
function linksOf({ read }, document) {
  const links = read(document).matchAll(/\]\(([^):]+)\)|src(?:set)?="([^":]+)"/g);
  return [...links].map(({ 1: link, 2: image, index: at }) => {
    const [path, heading = ''] = (link ?? image).split('#');
    const target = path === '' ? document : posix.join(posix.dirname(document), path);
    return { path: target, heading, shown: link ?? image, at };
  });
}

/** Every link of a document leads to a file or folder, and to a heading that exists. */
export function findBrokenLinks(checkout) {
  const { files, documents } = checkout;
  const known = new Set(files.flatMap((file) => [file, `${posix.dirname(file)}/`]).concat('./'));
  const exists = (path) => known.has(path) || known.has(`${path}/`);
  const isBroken = ({ path, heading }) =>
    !exists(path) || (heading !== '' && path.endsWith('.md') && !anchorsOf(checkout, path).includes(heading));
  return documents.flatMap((file) =>
    linksOf(checkout, file)
      .filter(isBroken)
      .map(({ shown, at }) => ({ file, at, says: `leads nowhere: ${shown}` })),
  );
}

/** From README.md a reader reaches every document and picture, from docs/README.md each page at once. */
export function findUnlinked(checkout) {
  const { files, documents, book } = checkout;
  const reached = new Set(['README.md']);
  for (const document of reached)
    if (documents.includes(document)) for (const { path } of linksOf(checkout, document)) reached.add(path);
  const wanted = [...documents, ...files.filter((file) => /^docs\/.+\.(?!md$)/.test(file))];
  const listed = linksOf(checkout, 'docs/README.md').map(({ path }) => path);
  return [
    ...wanted
      .filter((file) => !reached.has(file))
      .map((file) => ({ file, says: 'no document that README.md leads to links to it' })),
    ...book
      .filter((page) => /^docs\/.+\//.test(page) && !listed.includes(page))
      .map((file) => ({ file, says: 'docs/README.md does not list it' })),
  ];
}

const CODE = /\.(ts|mjs|sql|eta|ya?ml|service|timer|conf|cfg|css|json)$/;

/** Messages and comments name pages and headings of docs/. */
export function findBrokenReferences(checkout) {
  const { files, read } = checkout;
  const named = files
    .filter((file) => CODE.test(file) && file !== SAMPLES)
    .flatMap((file) =>
      [...read(file).matchAll(/\b(docs\/[\w/]+\.md)(?:\\?#([\w-]+))?/g)].map(
        ({ 0: shown, 1: page, 2: heading, index: at }) => ({ file, at, shown, page, heading }),
      ),
    );
  const isBroken = ({ page, heading }) =>
    !files.includes(page) || (heading !== undefined && !anchorsOf(checkout, page).includes(heading));
  return named.filter(isBroken).map(({ file, at, shown }) => ({ file, at, says: `leads nowhere: ${shown}` }));
}

const CONFIG = 'src/config/files.ts';

/** A mistake in an operator's file leads to the section of its variable. */
export function findMissingSections(checkout) {
  const variables = checkout.find(CONFIG, /\bread\('([A-Z]+)',/g);
  const sections = anchorsOf(checkout, 'docs/operate/configuration.md');
  return [
    ...expectSome(variables, CONFIG, 'variable that names a file'),
    ...['environment', ...variables.map(({ text }) => text.toLowerCase())]
      .filter((section) => !sections.includes(section))
      .map((section) => ({ file: 'docs/operate/configuration.md', says: `has no section “${section}”` })),
  ];
}
