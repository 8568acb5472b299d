import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/secrets/digest.ts';
import { formatToken, parseToken, type TokenKind } from '../../src/secrets/tokens.ts';
import { forAny } from '../rules/arbitraries.ts';

const PREFIX: Record<TokenKind, string> = { code: 'assent_ac_', token: 'assent_at_' };

const kind = fc.constantFrom<TokenKind[]>('code', 'token');
const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((array) => Buffer.from(array));
const place = fc.record({ grantId: fc.uuid(), userSlot: fc.nat({ max: 255 }) });
const secret = bytes(32);
const NOWHERE = { grantId: null, userSlot: null };

describe('codes and tokens that contain their grant', () => {
  it('are parsed to the grant and the SHA-256 of the whole string', () => {
    forAny(kind, place, secret, (which, where, random) => {
      const bearer = formatToken(which, where, random);
      expect(bearer).toMatch(/^[A-Za-z0-9_-]{74}$/);
      expect(bearer.startsWith(PREFIX[which])).toBe(true);
      expect(parseToken(which, bearer)).toEqual({ ...where, hash: sha256(bearer) });
    });
  });

  it('have exactly one spelling', () => {
    const letter = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_');
    forAny(kind, fc.string({ unit: letter, minLength: 64, maxLength: 64 }), (which, encoded) => {
      const { grantId, userSlot } = parseToken(which, PREFIX[which] + encoded);
      const random = Buffer.from(encoded, 'base64url').subarray(16);
      const again = formatToken(which, { grantId: grantId ?? '', userSlot: userSlot ?? NaN }, random);
      expect(again).toBe(PREFIX[which] + encoded);
    });
  });

  it('give a hash for any string, without an error', () => {
    const strings = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string().map((rest) => PREFIX.code + rest),
    );
    forAny(kind, strings, (which, bearer) => {
      expect(parseToken(which, bearer)).toEqual({ ...NOWHERE, hash: sha256(bearer) });
    });
  });
});
