import { defineConfig } from 'vitest/config';
import { ofEach } from '../../vitest.config.ts';

/** For `npm run years`. */
export default defineConfig({ test: { ...ofEach, include: ['test/years/years.ts'] } });
