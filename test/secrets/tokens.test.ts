import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/secrets/digest.ts';
import { deriveGrantId, formatToken, parseToken, type TokenKind } from '../../src/secrets/tokens.ts';
import { forAny } from '../rules/arbitraries.ts';

const PREFIX: Record<TokenKind, string> = { code: 'assent_ac_', token: 'assent_at_' };

const kind = fc.constantFrom<TokenKind[]>('code', 'token');
const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((array) => Buffer.from(array));
const place = fc.record({ grantId: fc.uuid(), userSlot: fc.nat({ max: 255 }) });
const secret = bytes(32);
const NOWHERE = { grantId: null, userSlot: null };

describe('codes and access tokens', () => {
  it('are parsed to the grant id and the SHA-256 of the whole string', () => {
    forAny(kind, place, secret, (which, where, random) => {
      const bearer = formatToken(which, where, random);
      expect(bearer).toMatch(/^[A-Za-z0-9_-]{74}$/);
      expect(bearer.startsWith(PREFIX[which])).toBe(true);
      expect(parseToken(which, bearer)).toEqual({ ...where, hash: sha256(bearer) });
    });
  });

  it('have exactly one encoding', () => {
    const letter = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_');
    forAny(kind, fc.string({ unit: letter, minLength: 64, maxLength: 64 }), (which, encoded) => {
      const { grantId, userSlot } = parseToken(which, PREFIX[which] + encoded);
      const random = Buffer.from(encoded, 'base64url').subarray(16);
      const again = formatToken(which, { grantId: grantId ?? '', userSlot: userSlot ?? NaN }, random);
      expect(again).toBe(PREFIX[which] + encoded);
    });
  });

  it('are parsed, if malformed, to no grant and their SHA-256, without an error', () => {
    const strings = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string().map((rest) => PREFIX.code + rest),
    );
    forAny(kind, strings, (which, bearer) => {
      expect(parseToken(which, bearer)).toEqual({ ...NOWHERE, hash: sha256(bearer) });
    });
  });
});

describe('contract 1.5 and 8: the id of the grant for a user, an application and an instance', () => {
  it('is stable: the first bytes of a SHA-256 as a UUID', () => {
    expect(deriveGrantId('user-1', 'client-1', null)).toBe('5485b674-03aa-7716-c670-47801fab384b');
    expect(deriveGrantId('user-1', 'client-1', 'anna')).toBe('929d241b-5c66-34a8-aac4-257a9734ba22');
  });

  it('differs if and only if the user, the application or the instance differs', () => {
    const part = fc.string({
      unit: fc.constantFrom('a', '"', ',', '\\', '[', ']', 'null', ' '),
      maxLength: 3,
    });
    const grant = fc.tuple(part, part, fc.option(part));
    forAny(grant, grant, (one, other) => {
      const same = one.every((value, index) => value === other[index]);
      expect(deriveGrantId(...one) === deriveGrantId(...other)).toBe(same);
      expect(deriveGrantId(...one)).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    });
  });
});
