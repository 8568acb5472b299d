import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatUuid, isUuid, parseUuid } from '../../src/secrets/tokens.ts';
import { forAny } from '../rules/arbitraries.ts';

it('writes 16 bytes as a uuid, and reads them back', () => {
  expect(formatUuid('00112233445566778899aabbccddeeff')).toBe('00112233-4455-6677-8899-aabbccddeeff');
  forAny(fc.uint8Array({ minLength: 16, maxLength: 16 }), (array) => {
    const bytes = Buffer.from(array);
    expect(isUuid(formatUuid(bytes.toString('hex')))).toBe(true);
    expect(parseUuid(formatUuid(bytes.toString('hex')))).toEqual(bytes);
  });
});

it.each([
  '',
  'x',
  '00112233445566778899aabbccddeeff',
  '00112233-4455-6677-8899-AABBCCDDEEFF',
  ` ${formatUuid('0'.repeat(32))}`,
])('refuses a uuid that PostgreSQL would not print: %j', (text) => {
  expect(isUuid(text)).toBe(false);
});
