import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const folders = [...new Set(files.map((file) => dirname(file)))].filter((folder) => folder !== '.');
const demoFiles = readdirSync(join(SRC, '../demo/src')).map((file) => `../demo/src/${file}`);
const text = (file: string) => readFileSync(join(SRC, file), 'utf8');
/** The matches of a pattern's first group. */
const namesIn = (file: string, pattern: RegExp) =>
  [...text(file).matchAll(pattern)].map(([, name = '']) => name);

/** The parts of `src` from the ground up, with those that each may import beside itself; `rules` stands for all of its parts. */
const layers = /^## Layers$.+?^## /ms.exec(text('../docs/develop/architecture.md'))?.[0] ?? '';
const MAY_IMPORT = Object.fromEntries(
  [...layers.replaceAll('/`', '`').matchAll(/^\| `.+$/gm)].map(([row]) => {
    const [part = '', ...allowed] = [...row.matchAll(/`(.+?)`/g)].map(([, name = '']) => name);
    return [part, allowed];
  }),
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

const HTTP_IMPORT = /^import (?!type).*'node:https?'/m;

/** The part of a file of `src`: its folder, or the file itself at the top; `examples` beside it. */
const partOf = (file: string) => {
  const folder = dirname(file.replace(/^\.\.\//, ''));
  return folder === '.' ? file : folder;
};

const allows = (allowed: readonly string[], part: string) =>
  allowed.some((name) => part === name || part.startsWith(`${name}/`));

function importsOf(file: string): string[] {
  const specifiers = namesIn(file, /\b(?:from |import\()'(\.[^']+)'/g);
  return specifiers.map((specifier) => relative(SRC, normalize(join(SRC, dirname(file), specifier))));
}

describe('the source tree', () => {
  it.each(files)('lets src/%s import only the parts that architecture.md allows', (file) => {
    const part = partOf(file);
    const allowed = MAY_IMPORT[part];
    expect(allowed, `${part} is not in the layout`).toBeDefined();
    const reached = importsOf(file).map(partOf);
    expect(reached.filter((to) => to !== part && !allows(allowed ?? [], to))).toEqual([]);
  });

  it('lets each part import only lower parts', () => {
    const parts = Object.keys(MAY_IMPORT);
    const upward = parts.flatMap((part, floor) =>
      parts
        .filter((other, above) => above > floor && allows(MAY_IMPORT[part] ?? [], other))
        .map((other) => `${part} > ${other}`),
    );
    expect(upward).toEqual([]);
  });

  it('has no folder of more than 14 files', () => {
    const sizes = Object.keys(MAY_IMPORT).map(
      (part) => [part, files.filter((file) => partOf(file) === part).length] as const,
    );
    expect(sizes.filter(([, size]) => size > 14)).toEqual([]);
  });

  it.each([...folders, '../demo'])(
    'has a README.md of at most 8 lines, with “Owns”, “Leaves” and “Start with”: src/%s',
    (folder) => {
      const introduction = text(`${folder}/README.md`);
      for (const word of ['Owns', 'Leaves', 'Start with'])
        expect(introduction).toMatch(new RegExp(`^${word}`, 'm'));
      expect(introduction.trim().split('\n').length).toBeLessThan(9);
      for (const name of namesIn(`${folder}/README.md`, /`([\w./]+(?:\.ts|\/))`/g)) {
        const found = [SRC, join(SRC, folder), dirname(SRC)].some((from) => existsSync(join(from, name)));
        expect(found, name).toBe(true);
      }
    },
  );

  it('keeps the demo application separate: it imports the sample client, and nothing of src', () => {
    const others = demoFiles.flatMap(importsOf).filter((file) => !demoFiles.includes(file));
    expect([...new Set(others)]).toEqual(['../examples/oauthClient.mjs']);
  });

  it.each([
    // The embedded PostgreSQL passes PATH and the time zone on to the programs that it starts.
    ['reads the environment only in config.ts', /process\.env/, /^(config\/config\.ts$|trial\/postgres\/)/],
    ['imports the operators’ API only on demand', /from '[./]+\/admin\//, /^admin\//],
    ['imports only types of node:http: other names would load undici on Node 26', HTTP_IMPORT, /^$/],
    // The one of trial mode holds its lock on a connection of its own.
    ['accesses the database only in src/store', /\.query(<[^(]*>)?\(/, /^(store|trial\/postgres)\//],
  ])('%s', (_rule, pattern, allowed) => {
    expect(files.filter((file) => pattern.test(text(file)) && !allowed.test(file))).toEqual([]);
  });

  it('loads the operators’ API only if ADMIN_PORT is set', () => {
    expect(text('process/server.ts')).toMatch(/adminPort !== null\) await openAdmin/);
  });

  it('imports only packages without I/O in src/rules/', () => {
    const packages = files
      .filter((file) => file.startsWith('rules/'))
      .flatMap((file) => namesIn(file, /(?:from |\(import\.meta\.url\)\()'([^.][^']*)'/g));
    expect(packages.filter((name) => !PURE_PACKAGES.includes(name))).toEqual([]);
  });

  it('calls the driver’s query() only in send(), which limits its time, and for watching hosts', () => {
    const callers = files.filter((file) => file.startsWith('store/') && /\.query[(<]/.test(text(file)));
    expect(callers.sort()).toEqual(['store/database/connection.ts', 'store/database/hosts.ts']);
  });

  it('gives each advisory lock a unique key, because trial mode has all of them in one database', () => {
    const keys = files.flatMap((file) =>
      [...text(file).matchAll(/_LOCK = ([\d_]+);/g)].map(([, key]) => key),
    );
    expect(keys.length).toBeGreaterThan(1);
    expect(new Set(keys).size, keys.join()).toBe(keys.length);
  });

  it('exports no name twice, except the verbs of operations/', () => {
    const exported = /^export (?:async )?(?:const|function\*?|class|interface|type) (\w+)/gm;
    const names = files
      .filter((file) => !/^operations\/\w+\.ts$/.test(file))
      .flatMap((file) => namesIn(file, exported));
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  it('has no import cycles', () => {
    const circles: string[] = [];
    const done = new Set<string>();
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' > '));
      else if (!done.has(file)) {
        for (const imported of importsOf(file)) visit(imported, [...path, file]);
        done.add(file);
      }
    };
    for (const file of [...files, ...demoFiles]) visit(file, []);
    expect(circles).toEqual([]);
  });
});
