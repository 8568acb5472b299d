import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/globalSetup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    allowOnly: false,
    maxWorkers: 3, // many tests wait for processes and for PostgreSQL, not for a core
  },
});
