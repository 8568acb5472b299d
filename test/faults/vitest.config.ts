import { defineConfig } from 'vitest/config';
import { ofEach } from '../../vitest.config.ts';

/** The long form of the fault suite, for `npm run faults`. */
export default defineConfig({
  test: { ...ofEach, include: ['test/faults/long.ts', 'test/faults/planted.test.ts'] },
});
