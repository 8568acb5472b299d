import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byteLength, hasDeceptiveCharacters } from '../../src/oauth/text.ts';
import { anyString } from './arbitraries.ts';

/** The first and last of every range that scopes.md calls control or bidirectional characters. */
const DECEPTIVE = [
  ...['\0', '\t', '\n', '\r', '\u001b', '\u001f', '\u007f', '\u0080', '\u0085', '\u009f', '\u061c'],
  ...['\u200e', '\u200f', '\u2028', '\u2029', '\u202a', '\u202d', '\u202e', '\u2066', '\u2068', '\u2069'],
];

describe('scopes.md: control and bidirectional characters', () => {
  it.each(DECEPTIVE.map((character) => [character]))('finds %j', (character) => {
    fc.assert(
      fc.property(anyString, anyString, (before, after) => {
        expect(hasDeceptiveCharacters(before + character + after)).toBe(true);
      }),
      { numRuns: 10 },
    );
  });

  it.each(['', 'a b', '~', '\u00a0', 'Магазин «Ромашка»', 'متجر', 'חנות', '商店', '👩‍👧', 'e\u0301'])(
    'lets %j pass',
    (text) => {
      expect(hasDeceptiveCharacters(text)).toBe(false);
    },
  );
});

it.each([
  ['', 0],
  ['abc', 3],
  ['é', 2],
  ['₽', 3],
  ['💳', 4],
])('counts %j in bytes of UTF-8', (text, bytes) => {
  expect(byteLength(text)).toBe(bytes);
});
