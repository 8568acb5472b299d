import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const folders = [...new Set(files.map((file) => dirname(file)))].filter((folder) => folder !== '.');
const text = (file: string) => readFileSync(join(SRC, file), 'utf8');

/** Which folders (or files) each folder may import from; itself is understood. */
const MAY_IMPORT: Record<string, string[]> = {
  rules: [],
  signals: [],
  languages: ['rules'],
  secrets: ['rules', 'signals'],
  store: ['rules', 'secrets', 'signals'],
  flows: ['languages', 'rules', 'secrets', 'signals', 'store'],
  http: ['languages', 'rules', 'signals', 'flows'],
  trial: ['config.ts', 'examples', 'flows', 'languages', 'secrets', 'store'],
  'config.ts': ['environment.ts', 'languages', 'operatorFiles.ts', 'rules', 'variables.ts'],
  'databaseStart.ts': ['openStore.ts', 'store'],
  'environment.ts': [],
  'ending.ts': ['rules'],
  'log.ts': [],
  'nodeVersion.ts': [],
  'operatorFiles.ts': ['languages', 'rules', 'secrets'],
  'v8Flags.ts': [],
  'variables.ts': ['rules', 'store'],
  'openStore.ts': ['config.ts', 'ending.ts', 'store', 'trial'],
  'serve.ts': ['config.ts', 'ending.ts', 'log.ts', 'server.ts', 'v8Flags.ts', 'workers.ts'],
  'server.ts': [
    'config.ts',
    'databaseStart.ts',
    'ending.ts',
    'flows',
    'http',
    'openStore.ts',
    'rules',
    'secrets',
    'trial',
    'workerMetrics.ts',
  ],
  'workers.ts': ['config.ts', 'ending.ts', 'workerMetrics.ts'],
  'workerMetrics.ts': ['http'],
  cli: ['config.ts', 'flows', 'openStore.ts', 'operatorFiles.ts', 'rules', 'secrets'],
  // Commands about the database itself.
  'cli/database.ts': ['config.ts', 'openStore.ts', 'store'],
  'cli/databaseChecks.ts': ['store'],
  'cli/invariantChecks.ts': ['store'],
  'cli/invariantTexts.ts': ['store'],
  'cli/doctor.ts': ['config.ts', 'flows', 'openStore.ts', 'rules', 'store'],
  'cli.ts': ['cli', 'serve.ts', 'store'],
};

/** Which parts of a folder each part of it may import from; itself is understood. */
const MAY_IMPORT_WITHIN: Record<string, string[]> = {
  'store/database': [],
  'store/schema': ['store', 'store/database'],
  'store/invariants': ['store', 'store/database', 'store/schema'],
  store: ['store/database'],
  flows: [],
  'flows/operators': ['flows'],
  'http/metrics': ['http/server'],
  'http/server': ['http', 'http/browser'],
  'http/browser': ['http'],
  'http/routes': ['http', 'http/browser', 'http/server'],
  http: ['http/browser', 'http/metrics', 'http/routes', 'http/server'],
  trial: ['trial/demo'],
  'trial/demo': [],
  'trial/postgres': ['trial'],
};

/** Packages without I/O: the rules may use them and stay pure. */
const PURE_PACKAGES = [
  '@zxcvbn-ts/language-common',
  'bowser',
  'libphonenumber-js/min',
  'unhomoglyph',
  'node:net',
  'saxes',
  'zod',
];

/** Of a file of `src`, or beside it: `examples`. */
const area = (file: string) => file.replace(/^\.\.\//, '').split('/')[0] ?? file;

function importsOf(file: string): string[] {
  const specifiers = [...text(file).matchAll(/\b(?:from |import\()'(\.[^']+)'/g)].map(
    (match) => match[1] ?? '',
  );
  return specifiers.map((specifier) => relative(SRC, normalize(join(SRC, dirname(file), specifier))));
}

describe('the layout', () => {
  it.each(files)('lets src/%s import only what its folder may', (file) => {
    const allowed = MAY_IMPORT[file] ?? MAY_IMPORT[area(file)];
    expect(allowed, `${area(file)} is not in the layout`).toBeDefined();
    const reached = importsOf(file)
      .map(area)
      .filter((to) => to !== area(file));
    expect(reached.filter((to) => !allowed?.includes(to))).toEqual([]);
  });

  it.each(files.filter((file) => dirname(file) in MAY_IMPORT_WITHIN))(
    'lets src/%s import only what its part of the folder may',
    (file) => {
      const part = dirname(file);
      const reached = importsOf(file)
        .map((to) => dirname(to))
        .filter((to) => area(to) === area(file) && to !== part);
      expect(reached.filter((to) => !MAY_IMPORT_WITHIN[part]?.includes(to))).toEqual([]);
    },
  );

  it.each(folders)(
    'introduces src/%s in a few lines: what it owns, what it leaves to others, where to start',
    (folder) => {
      const introduction = text(`${folder}/README.md`);
      for (const word of ['Owns', 'Leaves', 'Start with'])
        expect(introduction).toMatch(new RegExp(`^${word}`, 'm'));
      expect(introduction.trim().split('\n').length).toBeLessThan(9);
      const names = [...introduction.matchAll(/`([\w./]+(?:\.ts|\/))`/g)].map((match) => match[1] ?? '');
      for (const name of names) {
        const found = [SRC, join(SRC, folder), dirname(SRC)].some((from) => existsSync(join(from, name)));
        expect(found, name).toBe(true);
      }
    },
  );

  it('lets the demo application know nothing of the server: it has its texts, and the client that others copy', () => {
    const imported = files.filter((file) => file.startsWith('trial/demo/')).flatMap(importsOf);
    const others = [...new Set(imported)].filter((file) => !file.startsWith('trial/demo/'));
    expect(others.sort()).toEqual([
      '../examples/oauthClient.mjs',
      'languages/formats.ts',
      'languages/languages.ts',
    ]);
  });

  it('reads the environment in config.ts only', () => {
    // The embedded PostgreSQL passes PATH and the time zone on to the programs it starts.
    const readers = files.filter(
      (file) => /process\.env/.test(text(file)) && !file.startsWith('trial/postgres/'),
    );
    expect(readers).toEqual(['config.ts']);
  });

  it('speaks to the database in the store only', () => {
    // The one of trial mode holds its lock on a connection of its own.
    const speakers = files.filter(
      (file) => /\.query(<[^(]*>)?\(/.test(text(file)) && !file.startsWith('trial/postgres/'),
    );
    expect(speakers.filter((file) => area(file) !== 'store')).toEqual([]);
  });

  it('keeps the rules pure', () => {
    const packages = files
      .filter((file) => area(file) === 'rules')
      .flatMap((file) => [...text(file).matchAll(/from '([^.][^']*)'/g)].map((match) => match[1] ?? ''));
    expect(packages.filter((name) => !PURE_PACKAGES.includes(name))).toEqual([]);
  });

  it('has no circle of imports', () => {
    const circles: string[] = [];
    const done = new Set<string>();
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' > '));
      else if (!done.has(file)) {
        for (const imported of importsOf(file)) visit(imported, [...path, file]);
        done.add(file);
      }
    };
    for (const file of files) visit(file, []);
    expect(circles).toEqual([]);
  });
});
