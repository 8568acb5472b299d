import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const folders = [...new Set(files.map((file) => dirname(file)))].filter((folder) => folder !== '.');
const demoFiles = readdirSync(join(SRC, '../demo/src')).map((file) => `../demo/src/${file}`);
const text = (file: string) => readFileSync(join(SRC, file), 'utf8');

/**
 * The parts of `src`, from the ground up, with those that each may import: `rules` stands for all of its parts, and
 * each part may import itself. docs/architecture.md has the table that is made of it.
 */
const MAY_IMPORT: Record<string, string[]> = {
  'rules/common': [],
  'rules/scope': ['rules/common'],
  'rules/request': ['rules/common', 'rules/scope'],
  'rules/spending': ['rules/common', 'rules/request', 'rules/scope'],
  'rules/account': ['rules/common', 'rules/request', 'rules/scope'],
  'rules/face': ['rules/common', 'rules/scope'],
  signals: [],
  languages: ['rules'],
  secrets: ['rules/common', 'signals'],
  'store/database': ['rules/common', 'signals'],
  'store/common': ['rules', 'secrets', 'signals', 'store/database'],
  'store/authorize': ['rules', 'secrets', 'signals', 'store/common', 'store/database'],
  'store/token': ['rules', 'secrets', 'signals', 'store/common', 'store/database'],
  'store/account': ['rules', 'secrets', 'store/common', 'store/database'],
  'store/operate': ['rules', 'store/common', 'store/database'],
  'store/schema': ['rules/common', 'store/common', 'store/database'],
  'flows/common': ['languages', 'rules', 'secrets', 'store/database'],
  'flows/signIn': ['flows/common', 'rules', 'secrets', 'signals', 'store'],
  'flows/authorize': ['flows/common', 'flows/signIn', 'rules', 'secrets', 'signals', 'store'],
  'flows/token': ['flows/common', 'rules', 'secrets', 'signals', 'store'],
  'flows/account': ['flows/common', 'flows/signIn', 'rules', 'secrets', 'store'],
  watch: ['flows/common', 'rules/common', 'secrets', 'signals', 'store'],
  'http/request': ['flows/common', 'rules', 'watch'],
  'http/browser': ['flows', 'http/request', 'languages', 'rules'],
  'http/describe': ['flows', 'http/browser', 'languages', 'rules'],
  'http/pages': ['flows', 'http/browser', 'http/describe', 'languages', 'rules', 'watch'],
  'http/server': ['flows/common', 'http/browser', 'http/pages', 'http/request', 'rules', 'signals', 'watch'],
  'http/connections': ['http/browser', 'http/pages', 'http/request', 'languages', 'rules', 'signals'],
  'http/metrics': [
    'flows/common',
    'http/connections',
    'http/request',
    'secrets',
    'signals',
    'store',
    'watch',
  ],
  'http/routes/authorize': ['flows', 'http/browser', 'http/pages', 'http/request', 'rules'],
  'http/routes/token': ['flows', 'http/request', 'languages', 'rules'],
  'http/routes/account': [
    'flows',
    'http/browser',
    'http/describe',
    'http/pages',
    'http/request',
    'languages',
    'rules',
  ],
  'http/routes': ['flows', 'http/pages', 'http/request', 'http/server', 'rules', 'watch'],
  http: ['flows/common', 'http'],
  config: ['languages', 'rules', 'secrets', 'store/database'],
  'trial/postgres': [],
  operations: ['rules', 'secrets', 'store', 'watch'],
  trial: ['config', 'operations', 'secrets', 'store', 'trial/postgres'],
  process: ['config', 'flows', 'http', 'rules/common', 'secrets', 'store', 'trial'],
  cli: ['config', 'operations', 'process', 'rules', 'store/database', 'store/schema'],
  'cli.ts': ['cli'],
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

/** The part of a file of `src`: its folder, or the file itself at the top; `examples` beside it. */
const partOf = (file: string) => {
  const folder = dirname(file.replace(/^\.\.\//, ''));
  return folder === '.' ? file : folder;
};

const allows = (allowed: readonly string[], part: string) =>
  allowed.some((name) => part === name || part.startsWith(`${name}/`));

function importsOf(file: string): string[] {
  const specifiers = [...text(file).matchAll(/\b(?:from |import\()'(\.[^']+)'/g)].map(
    (match) => match[1] ?? '',
  );
  return specifiers.map((specifier) => relative(SRC, normalize(join(SRC, dirname(file), specifier))));
}

describe('the layout', () => {
  it.each(files)('lets src/%s import only what its part may', (file) => {
    const part = partOf(file);
    const allowed = MAY_IMPORT[part];
    expect(allowed, `${part} is not in the layout`).toBeDefined();
    const reached = importsOf(file).map(partOf);
    expect(reached.filter((to) => to !== part && !allows(allowed ?? [], to))).toEqual([]);
  });

  it('lets each part import only those below it', () => {
    const parts = Object.keys(MAY_IMPORT);
    const upward = parts.flatMap((part, floor) =>
      parts
        .filter((other, above) => above > floor && allows(MAY_IMPORT[part] ?? [], other))
        .map((other) => `${part} > ${other}`),
    );
    expect(upward).toEqual([]);
  });

  it('keeps no drawer of more than 14 files', () => {
    const sizes = Object.keys(MAY_IMPORT).map(
      (part) => [part, files.filter((file) => partOf(file) === part).length] as const,
    );
    expect(sizes.filter(([, size]) => size > 14)).toEqual([]);
  });

  it('is the table of docs/architecture.md, which -u writes', async () => {
    const path = fileURLToPath(new URL('../docs/architecture.md', import.meta.url));
    const [before, , after] = readFileSync(path, 'utf8').split(/<!-- layers[^>]*-->/);
    const code = (name: string) => `\`${name}${name.endsWith('.ts') ? '' : '/'}\``;
    const rows = Object.entries(MAY_IMPORT).map(
      ([part, allowed]) => `| ${code(part)} | ${allowed.map(code).join(', ') || 'nothing of ours'} |`,
    );
    const table = ['| Part of `src/`, from the ground up | may import |', '|---|---|', ...rows].join('\n');
    const text = `${before}<!-- layers: written by test/architecture.test.ts -->\n${table}\n<!-- layers end -->${after}`;
    await expect(text).toMatchFileSnapshot(path);
  });

  it.each([...folders, '../demo'])(
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

  it('keeps the demo application apart: it has the client that others copy, and nothing of src', () => {
    const others = demoFiles.flatMap(importsOf).filter((file) => !demoFiles.includes(file));
    expect([...new Set(others)]).toEqual(['../examples/oauthClient.mjs']);
  });

  it('reads the environment in config/config.ts only', () => {
    // The embedded PostgreSQL passes PATH and the time zone on to the programs it starts.
    const readers = files.filter(
      (file) => /process\.env/.test(text(file)) && !file.startsWith('trial/postgres/'),
    );
    expect(readers).toEqual(['config/config.ts']);
  });

  it('speaks to the database in the store only', () => {
    // The one of trial mode holds its lock on a connection of its own.
    const speakers = files.filter(
      (file) => /\.query(<[^(]*>)?\(/.test(text(file)) && !file.startsWith('trial/postgres/'),
    );
    expect(speakers.filter((file) => !file.startsWith('store/'))).toEqual([]);
  });

  it('keeps the rules pure', () => {
    const packages = files
      .filter((file) => file.startsWith('rules/'))
      .flatMap((file) => [...text(file).matchAll(/from '([^.][^']*)'/g)].map((match) => match[1] ?? ''));
    expect(packages.filter((name) => !PURE_PACKAGES.includes(name))).toEqual([]);
  });

  it('gives each advisory lock a key of its own: trial mode has all of them in one database', () => {
    const keys = files.flatMap((file) =>
      [...text(file).matchAll(/_LOCK = ([\d_]+);/g)].map(([, key]) => key),
    );
    expect(keys.length).toBeGreaterThan(1);
    expect(new Set(keys).size, keys.join()).toBe(keys.length);
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
    for (const file of [...files, ...demoFiles]) visit(file, []);
    expect(circles).toEqual([]);
  });
});
