import { defineConfig } from 'vitest/config';
import { ofEach } from '../../vitest.config.ts';

/** For `npm run years`. */
export default defineConfig({
  test: {
    ...ofEach,
    include: ['test/years/years.ts'],
    // Builds of other releases are loaded as they are.
    server: { deps: { external: [/assent-build-/] } },
  },
});
