import { defineConfig } from 'vitest/config';
import { ofEach } from '../../vitest.config.ts';

/** For `npm run cost`: on an otherwise idle machine. */
export default defineConfig({
  test: { ...ofEach, globalSetup: ['test/support/globalSetup.ts'], include: ['bench/cost/cost.ts'] },
});
