import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { rolldown } from 'rolldown';

// node scripts/bundle.mjs FOLDER: the image's files. Some hundred modules become a few files, which start sooner.

const ROOT = join(import.meta.dirname, '..');
const SRC = join(ROOT, 'src');
const [, , folder] = process.argv;
/** What `bin` imports, and the thread for passwords. */
const ENTRIES = ['cli.ts', 'process/ending.ts', 'process/nodeVersion.ts', 'secrets/passwordThread.js'];
/** Packages that stay packages: native ones, the one that starts a thread by its file, and the one that tracing changes. */
const WHOLE = ['@node-rs/argon2', '@node-rs/bcrypt', 'pg', 'piscina'];

/** Where a module of `src` is in `dist`. */
const placeOf = (id) => relative(SRC, id).replace(/ts$/, 'js');

/** Lets modules find files from their own place in `dist`, and packages in the bundle. Only ours are in the source maps. */
function transform(code, id) {
  if (!id.startsWith(SRC)) return { code, map: { mappings: '' } };
  const place = `new URL('./${placeOf(id)}', import.meta.url)`;
  const required = code.replaceAll('createRequire(import.meta.url)(', 'require(');
  return { code: required.replaceAll('import.meta.url', place), map: null };
}

const bundle = await rolldown({
  input: ENTRIES.map((file) => join(SRC, file)),
  platform: 'node',
  external: WHOLE,
  plugins: [{ name: 'places', transform }],
});
const { output } = await bundle.write({
  dir: join(folder, 'dist'),
  entryFileNames: ({ facadeModuleId }) => placeOf(facadeModuleId),
  chunkFileNames: '[name]-[hash].js', // beside cli.js, as `transform` has it
  sourcemap: true,
  sourcemapExcludeSources: true,
  sourcemapPathTransform: (file, map) => join('..', relative(ROOT, resolve(map, '..', file))),
});
for (const part of [
  'bin',
  'demo/wallet',
  'deploy/postgresql',
  'docs/openapi.json',
  'migrations',
  'package.json',
  'views',
])
  cpSync(join(ROOT, part), join(folder, part), {
    recursive: true,
    filter: (file) => !file.endsWith('.d.ts'),
  });

const isLabel = (file) => /^package\.json$|(^|\/)(licen[cs]e|notice)[^/]*$/i.test(file);
const isCode = (file) => /\.([cm]?js|json|node)$/.test(file) && !/^(benchmark|docs|scripts|test)/.test(file);

/** Copies some files of a package. @param home its folder in the checkout */
function copy(home, isKept) {
  const files = readdirSync(join(ROOT, home), { recursive: true }).filter(isKept);
  for (const file of files) cpSync(join(ROOT, home, file), join(folder, home, file));
}

/** Keeps the code of a package, and of what it depends on, if installed for this platform. */
function keepWhole(name) {
  const home = join('node_modules', name);
  if (existsSync(join(folder, home)) || !existsSync(join(ROOT, home))) return;
  copy(home, (file) => isCode(file) || isLabel(file));
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(ROOT, home, 'package.json')));
  Object.keys({ ...dependencies, ...optionalDependencies }).forEach(keepWhole);
}
WHOLE.forEach(keepWhole);

// Of a bundled package the licence remains, and the version: scanners for known vulnerabilities look for it.
const homes = output.flatMap(({ moduleIds = [] }) =>
  moduleIds.map((id) => relative(ROOT, id).match(/^.*node_modules\/(@[^/]+\/)?[^/]+/)?.[0]),
);
for (const home of new Set(homes)) if (home) copy(home, isLabel);

const isLicence = (file) => /^(licen[cs]e|copying)/i.test(file);
const textOf = (file) => readFileSync(join(ROOT, file), 'utf8');
/** The sentences of the MIT licence, as a package of `pg` has them in its README. */
const [MIT] = textOf('node_modules/pg-types/README.md').match(/^Permission is hereby granted.*/ms);

/** The licence of a package without a file for it. */
function findLicence(home) {
  const { name, license, author } = JSON.parse(textOf(join(home, 'package.json')));
  // A binary for one platform has that of its package.
  const parent = name.replace(/-(linux|darwin|win32|freebsd|android|openharmony)-.+$/, '');
  if (parent !== name) return textOf(join('node_modules', parent, 'LICENSE'));
  const readme = readdirSync(join(ROOT, home)).find((file) => /^readme/i.test(file));
  const [, written] =
    (readme && textOf(join(home, readme)).match(/^#+ *licen[cs]e\s+(.*Permission.*)/ims)) || [];
  if (written) return written;
  if (license === 'MIT' && author)
    return `The MIT License\n\nCopyright (c) ${author.name ?? author}\n\n${MIT}`;
  throw new Error(`${home} has no licence that an image could carry`);
}
for (const file of readdirSync(join(folder, 'node_modules'), { recursive: true })) {
  const [home] = file.match(/^(.*node_modules\/)?(@[^/]+\/)?[^/@]+(?=\/package\.json$)/) ?? [];
  if (home && !readdirSync(join(folder, 'node_modules', home)).some(isLicence))
    writeFileSync(join(folder, 'node_modules', home, 'LICENSE'), findLicence(join('node_modules', home)));
}
