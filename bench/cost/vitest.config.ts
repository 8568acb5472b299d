import { defineConfig } from 'vitest/config';
import { ofEach } from '../../vitest.config.ts';

/** For `npm run cost`: on a machine that does nothing else. */
export default defineConfig({
  test: { ...ofEach, globalSetup: ['test/support/globalSetup.ts'], include: ['bench/cost/cost.ts'] },
});
