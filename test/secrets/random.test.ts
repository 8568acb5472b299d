import { expect, it } from 'vitest';
import { randomHex } from '../../src/secrets/random.ts';

it('returns the requested number of random bytes in hex, never the same twice', () => {
  const values = Array.from({ length: 100 }, () => randomHex(16));
  for (const value of values) expect(value).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(values).size).toBe(values.length);
});
