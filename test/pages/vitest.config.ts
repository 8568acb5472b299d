import { defineConfig } from 'vitest/config';
import { ofEach } from '../../vitest.config.ts';

/** For `npm run pages`: needs no PostgreSQL. */
export default defineConfig({
  test: { ...ofEach, include: ['test/pages/make.ts'] },
});
