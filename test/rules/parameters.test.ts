import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Parameters } from '../../src/rules/request/parameters.ts';
import { forAny, text } from './arbitraries.ts';
import { verdictOf } from './refusal.ts';

describe('contract 4: the parser of form fields in UTF-8', () => {
  it.each([
    ['UTF-8 that is not percent-encoded', 'state=П₽', 'П₽'],
    ['a percent-encoded percent sign, decoded only once', 'state=%2541', '%41'],
    ['an equals sign in a value', 'state=a=b', 'a=b'],
    ['a percent-encoded name', 'st%61te=x', 'x'],
    ['a semicolon as part of the value', 'state=a;code=b', 'a;code=b'],
    ['a byte order mark as a character', 'state=%EF%BB%BFa', '\uFEFFa'],
    ['a percent-encoded U+FFFD as text', 'state=%EF%BF%BD', '\uFFFD'],
    ['a parameter between empty ones', '&&state=x&', 'x'],
  ])('reads %s', (_what, encoded, value) => {
    expect(new Parameters(encoded).get('state')).toBe(value);
  });

  it.each([
    ['a percent sign without hex digits after it', '%ZZ'],
    ['a percent sign at the end', 'a%'],
    ['the byte FF, which is never valid in UTF-8', '%FF'],
    ['an overlong UTF-8 encoding of a slash', '%C0%AF'],
    ['a surrogate encoded in UTF-8', '%ED%A0%80'],
    ['a percent-encoded NUL', 'a%00b'],
    ['a NUL that is not percent-encoded', 'a\0b'],
    ['a U+FFFD that is not percent-encoded, the sign of invalid bytes', 'a\uFFFDb'],
  ])('refuses %s', (_what, value) => {
    const parameters = new Parameters(`state=${value}`);
    expect(verdictOf(() => parameters.get('state'))).toBe('invalid_request');
    expect(verdictOf(() => parameters.require('state'))).toBe('invalid_request');
  });

  it('7.1 refuses a scope that is not UTF-8 with invalid_scope', () => {
    expect(verdictOf(() => new Parameters('scope=%FF').get('scope', 'invalid_scope'))).toBe('invalid_scope');
  });

  it('decodes any names and values that URLSearchParams has encoded', () => {
    forAny(fc.uniqueArray(fc.tuple(text(), text()), { selector: ([name]) => name }), (pairs) => {
      const parameters = new Parameters(new URLSearchParams(pairs).toString());
      for (const [name, value] of pairs) expect(parameters.get(name)).toBe(value === '' ? undefined : value);
    });
  });
});

describe('the parser of empty, duplicate and unknown parameters', () => {
  it.each(['', 'state', 'state=', 'other=x'])('finds no state in %j', (encoded) => {
    const parameters = new Parameters(encoded);
    expect(parameters.get('state')).toBeUndefined();
    expect(verdictOf(() => parameters.require('state'))).toBe('invalid_request');
  });

  it.each([
    ...['state=a&state=b', 'state=a&state=a', 'state=a&other=x&state=b', 'state=&state=', 'state&state=a'],
    ...['state=a&st%61te=b', 'state=%FF&state=a', 'state=a&state=%FF', 'state=a&state=b&state=c'],
  ])('refuses the duplicate parameter in %j', (encoded) => {
    expect(verdictOf(() => new Parameters(encoded).get('state'))).toBe('invalid_request');
  });

  it('refuses a duplicate scope with invalid_request, not with invalid_scope', () => {
    const parameters = new Parameters('scope=a&scope=b');
    expect(verdictOf(() => parameters.get('scope', 'invalid_scope'))).toBe('invalid_request');
  });

  it.each(['other=a&other=b', 'other=%FF', 'other=%ZZ&other=%ZZ', '%FF=a&%FF=b', '%ZZ=a', '=a&=b'])(
    'ignores the unknown parameters in %j',
    (others) => {
      expect(new Parameters(`${others}&state=x`).get('state')).toBe('x');
      expect(new Parameters(`state=x&${others}`).require('state')).toBe('x');
    },
  );
});
