import { pathToFileURL } from 'node:url';
import { defineConfig, type Plugin } from 'vitest/config';

/** Vitest imports packages by their paths, and Node reads those as URLs: `%41` in the checkout's path would be an `A`. */
const packagesByUrl: Plugin = {
  name: 'packages-by-url',
  enforce: 'pre',
  async resolveId(source, importer, options) {
    if (source.startsWith('file:')) return source;
    if (/^([./]|node:|vitest)/.test(source)) return null;
    const found = await this.resolve(source, importer, { ...options, skipSelf: true });
    return found?.id.includes('/node_modules/') ? pathToFileURL(found.id).href : null;
  },
};

export default defineConfig({
  plugins: import.meta.dirname.includes('%') ? [packagesByUrl] : [],
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/globalSetup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } }, // against hanging only: a machine that is busy can take long
    allowOnly: false,
    isolate: false, // the files share nothing but modules, and loading those anew for each took a quarter of the time
    maxWorkers: 3, // many tests wait for processes and for PostgreSQL, not for a core
    server: { deps: { external: [/^file:/] } },
  },
});
