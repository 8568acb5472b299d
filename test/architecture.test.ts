import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const text = (file: string) => readFileSync(join(SRC, file), 'utf8');

/** Which folders (or files) each folder may import from; itself is understood. */
const MAY_IMPORT: Record<string, string[]> = {
  oauth: [],
  secrets: [],
  store: ['oauth'],
  flows: ['oauth', 'secrets', 'store'],
  http: ['oauth', 'flows'],
  demo: [],
  'app.ts': ['http'],
  'config.ts': ['oauth', 'store'],
  'ending.ts': [],
  'engine.ts': [],
  'log.ts': [],
  'nodeVersion.ts': [],
  'trial.ts': ['secrets', 'store'],
  'serve.ts': [
    'app.ts',
    'config.ts',
    'demo',
    'ending.ts',
    'engine.ts',
    'flows',
    'http',
    'log.ts',
    'secrets',
    'store',
    'trial.ts',
  ],
  cli: ['config.ts', 'flows', 'oauth', 'secrets', 'store'],
  'cli.ts': ['cli', 'ending.ts', 'serve.ts', 'store'],
};

const area = (file: string) => file.split('/')[0] ?? file;

function importsOf(file: string): string[] {
  const specifiers = [...text(file).matchAll(/\bfrom '(\.[^']+)'/g)].map((match) => match[1] ?? '');
  return specifiers.map((specifier) => relative(SRC, normalize(join(SRC, dirname(file), specifier))));
}

describe('the layout', () => {
  it.each(files)('lets src/%s import only what its folder may', (file) => {
    const allowed = MAY_IMPORT[area(file)];
    expect(allowed, `${area(file)} is not in the layout`).toBeDefined();
    const reached = importsOf(file)
      .map(area)
      .filter((to) => to !== area(file));
    expect(reached.filter((to) => !allowed?.includes(to))).toEqual([]);
  });

  it('reads the environment in config.ts only', () => {
    // The embedded PostgreSQL passes PATH and the time zone on to the programs it starts.
    const readers = files.filter(
      (file) => /process\.env/.test(text(file)) && !file.startsWith('store/embedded/'),
    );
    expect(readers).toEqual(['config.ts']);
  });

  it('speaks to the database in the store only', () => {
    const speakers = files.filter((file) => /\.query(<[^(]*>)?\(/.test(text(file)));
    expect(speakers.filter((file) => area(file) !== 'store')).toEqual([]);
  });

  it('keeps the rules pure', () => {
    const outside = files.filter((file) => area(file) === 'oauth' && /from '(?!\.)/.test(text(file)));
    expect(outside).toEqual([]);
  });
});
