import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Parameters } from '../../src/rules/request/parameters.ts';
import { forAny, text } from './arbitraries.ts';
import { verdictOf } from './refusal.ts';

describe('contract 4: form fields in UTF-8', () => {
  it.each([
    ['UTF-8 as it is', 'state=П₽', 'П₽'],
    ['percent-encoding once only', 'state=%2541', '%41'],
    ['an equals sign in a value', 'state=a=b', 'a=b'],
    ['an encoded name', 'st%61te=x', 'x'],
    ['a semicolon as a part of the value', 'state=a;code=b', 'a;code=b'],
    ['a byte order mark as a character', 'state=%EF%BB%BFa', '\uFEFFa'],
    ['an encoded U+FFFD, which is text', 'state=%EF%BF%BD', '\uFFFD'],
    ['a pair between needless ampersands', '&&state=x&', 'x'],
  ])('reads %s', (_what, encoded, value) => {
    expect(new Parameters(encoded).get('state')).toBe(value);
  });

  it.each([
    ['a percent sign before no hex digits', '%ZZ'],
    ['a percent sign at the end', 'a%'],
    ['a byte that is never UTF-8', '%FF'],
    ['an overlong slash', '%C0%AF'],
    ['an encoded surrogate', '%ED%A0%80'],
    ['an encoded NUL', 'a%00b'],
    ['a NUL as it is', 'a\0b'],
    ['bytes that were lost before decoding', 'a\uFFFDb'],
  ])('refuses %s', (_what, value) => {
    const parameters = new Parameters(`state=${value}`);
    expect(verdictOf(() => parameters.get('state'))).toBe('invalid_request');
    expect(verdictOf(() => parameters.require('state'))).toBe('invalid_request');
  });

  it('7.1 gives a scope that is not UTF-8 its own code', () => {
    expect(verdictOf(() => new Parameters('scope=%FF').get('scope', 'invalid_scope'))).toBe('invalid_scope');
  });

  it('decodes any map of texts that URLSearchParams encodes', () => {
    forAny(fc.uniqueArray(fc.tuple(text(), text()), { selector: ([name]) => name }), (pairs) => {
      const parameters = new Parameters(new URLSearchParams(pairs).toString());
      for (const [name, value] of pairs) expect(parameters.get(name)).toBe(value === '' ? undefined : value);
    });
  });
});

describe('empty, duplicate and unknown parameters', () => {
  it.each(['', 'state', 'state=', 'other=x'])('reads %j as without state', (encoded) => {
    const parameters = new Parameters(encoded);
    expect(parameters.get('state')).toBeUndefined();
    expect(verdictOf(() => parameters.require('state'))).toBe('invalid_request');
  });

  it.each([
    ...['state=a&state=b', 'state=a&state=a', 'state=a&other=x&state=b', 'state=&state=', 'state&state=a'],
    ...['state=a&st%61te=b', 'state=%FF&state=a', 'state=a&state=%FF', 'state=a&state=b&state=c'],
  ])('refuses the duplicate parameter of %j', (encoded) => {
    expect(verdictOf(() => new Parameters(encoded).get('state'))).toBe('invalid_request');
  });

  it('reports a duplicate scope as invalid_request, because its value is not invalid', () => {
    const parameters = new Parameters('scope=a&scope=b');
    expect(verdictOf(() => parameters.get('scope', 'invalid_scope'))).toBe('invalid_request');
  });

  it.each(['other=a&other=b', 'other=%FF', 'other=%ZZ&other=%ZZ', '%FF=a&%FF=b', '%ZZ=a', '=a&=b'])(
    'ignores the unknown parameters of %j',
    (others) => {
      expect(new Parameters(`${others}&state=x`).get('state')).toBe('x');
      expect(new Parameters(`state=x&${others}`).require('state')).toBe('x');
    },
  );
});
