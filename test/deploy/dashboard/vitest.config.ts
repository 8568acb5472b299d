import { defineConfig } from 'vitest/config';
import base from '../../../vitest.config.ts';

/** For `npm run dashboard`: minutes of load under a real Prometheus, then the picture. */
export default defineConfig({
  ...base,
  test: { ...base.test, include: ['test/deploy/dashboard/make.ts'], testTimeout: 20 * 60_000 },
});
