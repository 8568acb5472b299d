import { posix } from 'node:path';
import { expectSome } from './checkout.mjs';

// What only some files of src may do, names that are given once, and how a folder introduces itself.

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
  // send() limits its time; hosts.ts watches hosts.
  [
    /\.query[(<]/g,
    /^src\/(?!store\/)|^src\/store\/database\/(connection|hosts)\.ts$/,
    'the driver’s query() is called by send() only',
  ],
];

/** What only some files may do is in no other. */
export const findMisplacedCode = ({ sources, find }) =>
  ONLY_IN.flatMap(([pattern, allowed, says]) =>
    sources
      .filter((file) => !allowed.test(file))
      .flatMap((file) => find(file, pattern).map(({ at }) => ({ file, at, says }))),
  );

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

/** Rules import only packages without I/O. */
export const findImpureRules = ({ sources, find }) =>
  sources
    .filter((file) => file.startsWith('src/rules/'))
    .flatMap((file) =>
      find(file, /(?:from |\(import\.meta\.url\)\()'([^.][^']*)'/g)
        .filter(({ text }) => !PURE_PACKAGES.includes(text))
        .map(({ text, at }) => ({ file, at, says: `the rules are pure: they may not import ${text}` })),
    );

const SERVER = 'src/process/server.ts';

/** A server without the operators' API doesn't load it. */
export const findNeedlessLoads = ({ read }) =>
  /adminPort !== null\) await openAdmin/.test(read(SERVER))
    ? []
    : [{ file: SERVER, says: 'the operators’ API must be loaded only if ADMIN_PORT is set' }];

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
