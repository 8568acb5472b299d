import { expect, it } from 'vitest';
import { bytesOf, hexOf, s256, sha256 } from '../../src/secrets/digest.ts';

it('sha256 gives the 32 bytes of FIPS 180-2 appendix B.1, for a text and for bytes', () => {
  const digest = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  expect(sha256('abc')).toBe(`\\x${digest}`);
  expect(sha256(Buffer.from('abc'))).toBe(`\\x${digest}`);
  expect(hexOf(sha256('abc'))).toBe(digest);
  expect(bytesOf(sha256('abc'))).toEqual(Buffer.from(digest, 'hex'));
});

it('sha256 takes a text as UTF-8', () => {
  expect(sha256('₽')).toEqual(sha256(Buffer.from([0xe2, 0x82, 0xbd])));
});

it('s256 gives the challenge of RFC 7636 appendix B', () => {
  expect(s256('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')).toBe(
    'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  );
});
