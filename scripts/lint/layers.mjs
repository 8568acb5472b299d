import { posix } from 'node:path';

// The layers of src as docs/develop/architecture.md has them, and the imports between files.

const ARCHITECTURE = 'docs/develop/architecture.md';

/** The part of a file of `src`: its folder, or the file itself at the top; of another file, its folder. */
function partOf(file) {
  const path = file.replace(/^src\//, '');
  return posix.dirname(path) === '.' ? path : posix.dirname(path);
}

/** A name such as `rules` stands for all of its parts. */
const allows = (allowed, part) => allowed.some((name) => part === name || part.startsWith(`${name}/`));

/** The parts from the ground up, with those that each may import beside itself. Parts of one row may import the same. */
function layersOf({ read }) {
  const section = /^## Layers$.+?^## /ms.exec(read(ARCHITECTURE))?.[0] ?? '';
  const rows = [...section.replaceAll('/`', '`').matchAll(/^\| `.+$/gm)];
  return rows.flatMap(([row]) => {
    const [parts = [], allowed = []] = row
      .split('|')
      .slice(1)
      .map((cell) => [...cell.matchAll(/`(.+?)`/g)].map(([, name]) => name));
    return parts.map((part) => ({ part, allowed }));
  });
}

const importsOf = ({ find }, file) =>
  find(file, /\b(?:from |import\()'(\.[^']+)'/g).map(({ text, at }) => ({
    to: posix.join(posix.dirname(file), text),
    at,
  }));

/** Every file of `src` imports only what the table of layers allows. */
export function findForbiddenImports(checkout) {
  const layers = layersOf(checkout);
  return checkout.sources.flatMap((file) => {
    const part = partOf(file);
    const layer = layers.find((one) => one.part === part);
    if (layer === undefined) return [{ file, says: `${ARCHITECTURE} has no layer ${part}` }];
    return importsOf(checkout, file)
      .filter(({ to }) => partOf(to) !== part && !allows(layer.allowed, partOf(to)))
      .map(({ to, at }) => ({ file, at, says: `${part} may not import ${to}` }));
  });
}

/** The table itself lets each part import only lower parts. */
export function findUpwardLayers(checkout) {
  const layers = layersOf(checkout);
  return layers.flatMap(({ part, allowed }, floor) =>
    layers
      .filter((other, above) => above > floor && allows(allowed, other.part))
      .map((other) => ({
        file: ARCHITECTURE,
        says: `${part} stands below ${other.part}, which it may import`,
      })),
  );
}

const demoOf = ({ files }) => files.filter((file) => /^demo\/src\/.+\.ts$/.test(file));

/** No file imports itself through others. */
export function findImportCycles(checkout) {
  const found = [];
  const done = new Set();
  const visit = (file, path) => {
    if (path.includes(file)) {
      const cycle = [...path.slice(path.indexOf(file)), file];
      found.push({ file, says: `imports itself: ${cycle.join(' > ')}` });
    } else if (!done.has(file) && /\.ts$/.test(file)) {
      for (const { to } of importsOf(checkout, file))
        if (checkout.files.includes(to)) visit(to, [...path, file]);
      done.add(file);
    }
  };
  for (const file of [...checkout.sources, ...demoOf(checkout)]) visit(file, []);
  return found;
}

const DEMO_TAKES = ['examples/oauthClient.mjs', 'demo/texts/en.d.ts'];

/** The demo is a program of its own. */
export function findImportsOfDemo(checkout) {
  const demo = demoOf(checkout);
  return demo.flatMap((file) =>
    importsOf(checkout, file)
      .filter(({ to }) => !demo.includes(to) && !DEMO_TAKES.includes(to))
      .map(({ to, at }) => ({
        file,
        at,
        says: `the demo may import nothing but its own files, the types of its texts and the sample client, not ${to}`,
      })),
  );
}
