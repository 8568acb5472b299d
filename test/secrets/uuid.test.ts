import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseUuid, printUuid } from '../../src/secrets/uuid.ts';

it('writes 16 bytes as a uuid, and reads them back', () => {
  const bytes = Buffer.from('00112233445566778899aabbccddeeff', 'hex');
  expect(printUuid(bytes)).toBe('00112233-4455-6677-8899-aabbccddeeff');
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (array) => {
      expect(parseUuid(printUuid(Buffer.from(array)))).toEqual(Buffer.from(array));
    }),
  );
});
