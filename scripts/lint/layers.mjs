import { posix } from 'node:path';
import { expectSome } from './checkout.mjs';

// The layers of src as docs/develop/architecture.md has them, and what only one part may do.

const ARCHITECTURE = 'docs/develop/architecture.md';

/** Packages without I/O: the rules may use them and stay pure. */
const PURE_PACKAGES = [
  '@zxcvbn-ts/language-common',
  'bowser',
  'libphonenumber-js/min',
  'toad-cache',
  'unhomoglyph',
  'node:module', // to load one of these on first use
  'node:net',
  'zod',
];

/** The part of a file of `src`: its folder, or the file itself at the top; of another file, its folder. */
function partOf(file) {
  const path = file.replace(/^src\//, '');
  return posix.dirname(path) === '.' ? path : posix.dirname(path);
}

/** A name such as `rules` stands for all of its parts. */
const allows = (allowed, part) => allowed.some((name) => part === name || part.startsWith(`${name}/`));

/** The parts from the ground up, with those that each may import beside itself. */
function layersOf({ read }) {
  const section = /^## Layers$.+?^## /ms.exec(read(ARCHITECTURE))?.[0] ?? '';
  const rows = [...section.replaceAll('/`', '`').matchAll(/^\| `.+$/gm)];
  return rows.map(([row]) => {
    const [part, ...allowed] = [...row.matchAll(/`(.+?)`/g)].map(([, name]) => name);
    return { part, allowed };
  });
}

const importsOf = ({ find }, file) =>
  find(file, /\b(?:from |import\()'(\.[^']+)'/g).map(({ text, at }) => ({
    to: posix.join(posix.dirname(file), text),
    at,
  }));

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

/** The demo is a program of its own. */
export function findImportsOfDemo(checkout) {
  const demo = demoOf(checkout);
  return demo.flatMap((file) =>
    importsOf(checkout, file)
      .filter(({ to }) => !demo.includes(to) && to !== 'examples/oauthClient.mjs')
      .map(({ to, at }) => ({
        file,
        at,
        says: `the demo may import nothing but its own files and the sample client, not ${to}`,
      })),
  );
}

/** What is left to a few files of `src`. */
const ONLY_IN = [
  // The embedded PostgreSQL passes PATH and the time zone on to the programs that it starts.
  [
    /process\.env/g,
    /^src\/(config\/config\.ts$|trial\/postgres\/)/,
    'the environment is read in config.ts only',
  ],
  [/from '[./]+\/admin\//g, /^src\/admin\//, 'the operators’ API is imported only on demand'],
  [
    /^import (?!type).*'node:https?'/gm,
    /^$/,
    'only types of node:http may be imported: other names would load undici on Node 26',
  ],
  // The one of trial mode holds its lock on a connection of its own.
  [/\.query(?:<[^(]*>)?\(/g, /^src\/(store|trial\/postgres)\//, 'the database is used in src/store only'],
  // Which limits its time; hosts.ts watches hosts.
  [
    /\.query[(<]/g,
    /^src\/(?!store\/)|^src\/store\/database\/(connection|hosts)\.ts$/,
    'the driver’s query() is called by send() only',
  ],
];

export function findMisplacedCode({ sources, read, find }) {
  const server = 'src/process/server.ts';
  return [
    ...ONLY_IN.flatMap(([pattern, allowed, says]) =>
      sources
        .filter((file) => !allowed.test(file))
        .flatMap((file) => find(file, pattern).map(({ at }) => ({ file, at, says }))),
    ),
    ...sources
      .filter((file) => file.startsWith('src/rules/'))
      .flatMap((file) =>
        find(file, /(?:from |\(import\.meta\.url\)\()'([^.][^']*)'/g)
          .filter(({ text }) => !PURE_PACKAGES.includes(text))
          .map(({ text, at }) => ({ file, at, says: `the rules are pure: they may not import ${text}` })),
      ),
    ...(/adminPort !== null\) await openAdmin/.test(read(server))
      ? []
      : [{ file: server, says: 'the operators’ API must be loaded only if ADMIN_PORT is set' }]),
  ];
}

/** Findings for each name that an earlier file has too. */
function findRepeated(names, say) {
  const first = new Map();
  return names.flatMap(({ text, file, at }) => {
    const earlier = first.get(text);
    first.set(text, earlier ?? file);
    return earlier === undefined ? [] : [{ file, at, says: say(text, earlier) }];
  });
}

/** An editor's import picks either of two names. The verbs of operations/ share theirs. */
export function findRepeatedNames({ sources, find }) {
  const exported = /^export (?:async )?(?:const|function\*?|class|interface|type) (\w+)/gm;
  const inFiles = (files, pattern) =>
    files.flatMap((file) => find(file, pattern).map((one) => ({ ...one, file })));
  const names = inFiles(
    sources.filter((file) => !/^src\/operations\/\w+\.ts$/.test(file)),
    exported,
  );
  const locks = inFiles(sources, /_LOCK = ([\d_]+);/g);
  return [
    ...findRepeated(names, (name, earlier) => `${earlier} exports ${name} too`),
    ...expectSome(locks, 'src/', 'advisory lock'),
    // Trial mode has all of them in one database.
    ...findRepeated(locks, (key, earlier) => `${earlier} has the advisory lock ${key} too`),
  ];
}

/** A folder of `src` says what it owns, what it leaves to others, and where to start. */
export function findPoorIntroductions({ sources, files, read, find }) {
  const folders = [...new Set(sources.map((file) => posix.dirname(file)))].filter(
    (folder) => folder !== 'src',
  );
  return [...folders, 'demo'].flatMap((folder) => {
    const file = `${folder}/README.md`;
    if (!files.includes(file)) return [{ file: `${folder}/`, says: 'has no README.md' }];
    const homes = ['src', folder, '.'];
    const exists = (name) =>
      homes.some((home) => files.some((one) => `${one}/`.startsWith(posix.join(home, name))));
    return [
      ...['Owns', 'Leaves', 'Start with']
        .filter((words) => !new RegExp(`^${words}`, 'm').test(read(file)))
        .map((words) => ({ file, says: `no line begins with “${words}”` })),
      ...find(file, /`([\w./]+(?:\.ts|\/))`/g)
        .filter(({ text }) => !exists(text))
        .map(({ text, at }) => ({ file, at, says: `no file or folder is named ${text}` })),
    ];
  });
}
