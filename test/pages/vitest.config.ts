import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

/** For `npm run pages`: needs no PostgreSQL. */
export default defineConfig({
  ...base,
  test: { ...base.test, include: ['test/pages/make.ts'], globalSetup: [] },
});
