import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/globalSetup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    allowOnly: false,
    isolate: false, // the files share nothing but modules, and loading those anew for each took a quarter of the time
    maxWorkers: 3, // many tests wait for processes and for PostgreSQL, not for a core
  },
});
