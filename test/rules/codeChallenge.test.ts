import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCodeChallenge, parseCodeVerifier } from '../../src/rules/request/codeChallenge.ts';
import { Parameters } from '../../src/rules/request/parameters.ts';
import { s256 } from '../../src/secrets/digest.ts';
import { forAny } from './arbitraries.ts';
import { verdictOf } from './refusal.ts';

/** RFC 7636 appendix B. */
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

const challengeOf = (challenge: string, method: string) =>
  parseCodeChallenge(new Parameters(`code_challenge=${challenge}&code_challenge_method=${method}`));
const verifierOf = (value: string) =>
  parseCodeVerifier(new Parameters(new URLSearchParams({ code_verifier: value }).toString()));

it.each([
  ['a method without a challenge', '', 'S256'],
  ['a challenge without a method, which would mean plain', CHALLENGE, ''],
  ['the method plain', CHALLENGE, 'plain'],
  ['the method s256 in lower case', CHALLENGE, 's256'],
  ['a challenge of 42 characters', CHALLENGE.slice(1), 'S256'],
  ['a challenge of 44 characters', `${CHALLENGE}A`, 'S256'],
  ['a challenge with base64 padding', `${CHALLENGE}=`, 'S256'],
  ['a + in place of the - of base64url', CHALLENGE.replace('-', '%2B'), 'S256'],
  ['a last character that no SHA-256 in base64url has', `${CHALLENGE.slice(0, -1)}N`, 'S256'],
  ['a trailing line break', `${CHALLENGE}%0A`, 'S256'],
  ['a duplicate code_challenge', `${CHALLENGE}&code_challenge=${CHALLENGE}`, 'S256'],
])('RFC 7636 section 4.3: code_challenge is refused: %s [codeChallenge-1]', (_what, challenge, method) => {
  expect(verdictOf(() => challengeOf(challenge, method))).toBe('invalid_request');
});

describe('RFC 7636 section 4.1: code_verifier', () => {
  it.each([
    ['a verifier of 42 characters', 'a'.repeat(42)],
    ['a verifier of 129 characters', 'a'.repeat(129)],
    ['a space', `${'a'.repeat(42)} `],
    ['a letter outside ASCII', `${'a'.repeat(42)}é`],
    ['a trailing line break', `${'a'.repeat(43)}\n`],
  ])('refuses %s', (_what, verifier) => {
    expect(verdictOf(() => verifierOf(verifier))).toBe('invalid_request');
  });

  it('accepts any valid verifier and its S256 challenge', () => {
    const unreserved = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~';
    forAny(fc.string({ unit: fc.constantFrom(...unreserved), minLength: 43, maxLength: 128 }), (verifier) => {
      expect(verifierOf(verifier)).toBe(verifier);
      expect(challengeOf(s256(verifier), 'S256')).toBe(s256(verifier));
    });
  });
});
