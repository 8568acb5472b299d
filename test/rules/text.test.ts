import fc from 'fast-check';
import unhomoglyph from 'unhomoglyph';
import { describe, expect, it } from 'vitest';
import {
  findInvisibleCharacter,
  findUnclearCharacter,
  replaceQuotationMarks,
} from '../../src/rules/common/text.ts';
import { forAny } from './arbitraries.ts';

/** White space, invisible characters and those that turn the direction of writing: one of each kind, and some often forgotten. */
const UNCLEAR = [
  ...'\0\t\n\r\u001b\u007f\u0080\u0085\u009f',
  ...'\u061c\u200b\u200e\u202a\u202e\u2066\u2069\u2060\ufeff\u00ad\u180e',
  ...'\u00a0\u1680\u2007\u2028\u202f\u205f\u3000',
  ...'\u034f\u115f\u1160\u17b4\u17b5\u180b\u3164\uffa0\u{e0001}\u{e0100}',
  ...'\u2800\ufffc\u{13441}\u{16fe4}\u{1d159}\ufe00',
  ...'\ue000\u{f0000}\uffff\u{3fffd}',
];

const JOINERS = [...'\u200c\u200d\ufe0e\ufe0f'];

const clear = fc.constantFrom('', 'a', 'Магазин', '商店', '9', '💳', '-', 'é');

describe('scopes.md: the check for invisible or ambiguous characters', () => {
  it.each([...UNCLEAR, ...JOINERS, ' '].map((character) => [character]))(
    'finds in a target, and also in a name unless a space or joiner: %j',
    (character) => {
      const codePoint = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
      forAny(clear, clear, (before, after) => {
        const at = [...before].length + 1;
        expect(findInvisibleCharacter(before + character + after)).toBe(`U+${codePoint} at character ${at}`);
        if (UNCLEAR.includes(character))
          expect(findUnclearCharacter(before + character + after)).toBeDefined();
      });
    },
  );

  it('finds a combining mark that has no letter before it', () => {
    expect(findInvisibleCharacter('\u0301a')).toBe('U+0301 at character 1');
    expect(findUnclearCharacter('\u0489')).toBe('U+0489 at character 1');
  });

  it.each(['', '~', 'Магазин«Ромашка»', 'متجر', 'חנות', '商店', '👩', 'e\u0301', '１２', 'x'.repeat(9)])(
    'accepts %j',
    (text) => {
      expect(findInvisibleCharacter(text)).toBeUndefined();
      expect(findUnclearCharacter(text)).toBeUndefined();
    },
  );

  it.each(['a b', 'Иван Петров', '👩‍👧', '👩🏽‍💻 work', '❤️', '1️⃣', '🏳️‍🌈', 'می‌خواهم', 'क्‍ष', 'ශ්‍රී ලංකා'])(
    'accepts the spaces and joiners that words, scripts and emoji need in a name: %j',
    (name) => {
      expect(findUnclearCharacter(name)).toBeUndefined();
    },
  );

  it.each([
    ...['', 'a', 'क', '👩'].flatMap((name) =>
      [' ', '\u200c', '\u200d'].flatMap((put) => [name + put, put + name]),
    ),
    ...['a  b', 'a\u200db', 'anna\ufe0f', '1\ufe0f', '\ufe0f'],
    ...['👩\u200da', 'a\u200d👩', '👩\u200d\u200d👧', 'क\u200d\u200dक'],
  ])('finds needless spaces and joiners in a name: %j', (name) => {
    expect(findUnclearCharacter(name)).toBeDefined();
  });
});

describe('a text in quotation marks', () => {
  const all = Array.from({ length: 0x11_0000 }, (_, codePoint) => codePoint)
    .filter((codePoint) => codePoint < 0xd800 || codePoint > 0xdfff)
    .map((codePoint) => String.fromCodePoint(codePoint));
  const isAlone = (mark: string) => /['‘’‚‛‹›＇]/.test(mark);

  it('loses all Unicode quotation marks, and pairs of apostrophes [text-1]', () => {
    const marks = all.filter((mark) => /\p{Quotation_Mark}/u.test(mark) || /^''+$/.test(unhomoglyph(mark)));
    // Two yods are a letter of Yiddish words, and a Vedic sign stands above others only.
    const ends = marks.filter((mark) => !isAlone(mark) && !/[\u05F2\u1CD3]/.test(mark));
    expect(ends.length).toBeGreaterThan(30);
    expect(ends.filter((mark) => replaceQuotationMarks(`a${mark}b`) !== 'a�b')).toEqual([]);
  });

  it('keeps a single apostrophe, but no pair of characters that look like apostrophes', () => {
    // Without letters, which words may have twice.
    const strokes = all.filter(
      (mark) => unhomoglyph(mark) === "'" && !/[\u05D9\u144A\u16CC]|\p{M}|[\u{16F51}\u{16F52}]/u.test(mark),
    );
    expect(strokes.length).toBeGreaterThan(30);
    expect(strokes.filter((mark) => replaceQuotationMarks(`a${mark}b`) !== `a${mark}b`)).toEqual([]);
    expect(strokes.filter((mark) => replaceQuotationMarks(`a${mark}'b`) !== 'a�b')).toEqual([]);
    for (const two of ['❯❯', '⟩⟩', '’\u0301’', '⋙']) expect(replaceQuotationMarks(`a${two}b`)).toBe('a�b');
  });
});
