import { describe, expect, it } from 'vitest';
import { Scanner } from '../../src/rules/scopeScanner.ts';
import { refusalOf } from './refusal.ts';

describe('scopes.md: strings in parentheses', () => {
  it.each([
    ['one string', '("a")', ['a']],
    ['an empty string', '("")', ['']],
    ['several strings', '("a","b","c")', ['a', 'b', 'c']],
    ['a space after a comma', '("a", "b")', ['a', 'b']],
    ['the characters of the grammar', '("a b, (c) .limit(1,5)")', ['a b, (c) .limit(1,5)']],
    ['escaped quotes and backslashes', String.raw`("\"\\\"")`, [String.raw`"\"`]],
    ['an escaped backslash before the end', String.raw`("a\\","b")`, ['a\\', 'b']],
    ['letters of any script', '("Кофе ☕")', ['Кофе ☕']],
    ['128 characters', `("${'x'.repeat(128)}")`, ['x'.repeat(128)]],
    ['128 characters outside the basic plane', `("${'💳'.repeat(128)}")`, ['💳'.repeat(128)]],
    ['128 escaped characters', `("${'\\"'.repeat(128)}")`, ['"'.repeat(128)]],
  ])('reads %s', (_what, text, strings) => {
    const scanner = new Scanner(text);
    expect(scanner.takeStrings()).toEqual(strings);
    expect(scanner.atEnd).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['no parenthesis', '"a"'],
    ['no string', '()'],
    ['no quotes', '(a)'],
    ['single quotes', "('a')"],
    ['an open quote', '("a'],
    ['an open parenthesis', '("a"'],
    ['an escape of something else', String.raw`("\n")`],
    ['a backslash at the end', String.raw`("a\")`],
    ['a comma without a string', '("a",)'],
    ['a space before a comma', '("a" ,"b")'],
    ['two spaces after a comma', '("a",  "b")'],
    ['a space inside the parenthesis', '( "a")'],
    ['a space before the closing parenthesis', '("a" )'],
    ['no comma', '("a""b")'],
    ['129 characters', `("${'x'.repeat(129)}")`],
  ])('refuses %s', (_what, text) => {
    expect(refusalOf(() => new Scanner(text).takeStrings()).code).toBe('invalid_scope');
  });
});

describe('reading from left to right', () => {
  it('takes what stands here, never what stands further on', () => {
    const scanner = new Scanner('ab');
    expect(scanner.take(/b/y)).toBeUndefined();
    expect(scanner.take(/a/y)).toBe('a');
    expect(scanner.take(/b/y)).toBe('b');
    expect(scanner.atEnd).toBe(true);
    expect(scanner.take(/b/y)).toBeUndefined();
  });

  it('says whether there was a space, and takes spaces only', () => {
    const scanner = new Scanner('  \ta');
    expect(scanner.skipSpaces()).toBe(true);
    expect(scanner.skipSpaces()).toBe(false);
    expect(scanner.take(/\t/y)).toBe('\t');
  });

  it('tells the log where it stopped, and the person nothing of what was sent', () => {
    const refusal = refusalOf(() => new Scanner('("a",b)').takeStrings());
    expect(refusal.rule).toBe('scope: expected a text in double quotes before or at character 6');
    expect(refusal.message).toBe('The parameter scope has a value that is not a right of this service.');
  });
});
