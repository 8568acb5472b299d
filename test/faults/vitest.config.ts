import { defineConfig } from 'vitest/config';

/** The long form of the fault suite, for `npm run faults`. */
export default defineConfig({
  test: {
    include: ['test/faults/long.ts', 'test/faults/planted.test.ts'],
    reporters: ['default'],
    expect: { poll: { timeout: 20_000 } },
    isolate: false,
    setupFiles: ['test/support/eachFile.ts'],
    hookTimeout: 120_000,
  },
});
