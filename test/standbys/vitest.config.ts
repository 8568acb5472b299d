import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

/** For `npm run standbys`: the tests of standbys with thousands of rounds, and what a question costs whom. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ['test/processes/standbys.test.ts', 'test/standbys/measure.ts'],
    env: { STANDBY_ROUNDS: '3000' },
    testTimeout: 900_000,
    fileParallelism: false,
  },
});
