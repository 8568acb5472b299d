import type fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseClientCredentials } from '../../src/rules/request/clientCredentials.ts';
import { Parameters } from '../../src/rules/request/parameters.ts';
import { forAny, text } from './arbitraries.ts';
import { verdictOf } from './refusal.ts';

type Fields = Record<string, string>;

const base64 = (value: string | number[]) => Buffer.from(value as string).toString('base64');
const basic = (value: string | number[]) => `Basic ${base64(value)}`;
/** One half as RFC 6749 section 2.3.1 and appendix B have it encoded. */
const formEncode = (value: string) => new URLSearchParams([['', value]]).toString().slice(1);
const read = (fields: Fields, authorization?: string) =>
  parseClientCredentials(new Parameters(`${new URLSearchParams(fields)}`), authorization);

describe('RFC 6749 section 2.3.1: client authentication by form or by HTTP Basic', () => {
  // Real libraries send the usual ones: test/clients/libraries.test.ts.
  it.each<[string, Fields, string, string | null]>([
    ['client_secret of the form beside an empty password', { client_secret: 's' }, basic('app:'), 's'],
    ['the form if the scheme is Bearer', { client_id: 'app' }, `Bearer ${base64('other:s')}`, null],
    ['the form if the scheme is “Basically”', { client_id: 'app' }, `Basically ${base64('other:s')}`, null],
    ['HTTP Basic with its scheme in lower case', {}, basic('app:s').replace('B', 'b'), 's'],
    ['HTTP Basic with its scheme in upper case and two spaces', {}, `BASIC  ${base64('app:s')}`, 's'],
    ['HTTP Basic, with a colon in the secret', {}, basic('app:a:b'), 'a:b'],
    ['HTTP Basic with UTF-8 that is not percent-encoded', {}, basic('app:пароль'), 'пароль'],
    ['HTTP Basic if the form has an empty client_secret', { client_secret: '' }, basic('app:s'), 's'],
  ])('reads %s', (_where, fields, authorization, secret) => {
    expect(read(fields, authorization)).toEqual({ id: 'app', secret });
  });

  it.each<[string, Fields, string | undefined]>([
    ['a secret both in the form and in HTTP Basic', { client_secret: 's' }, basic('app:s')],
    ['a form and HTTP Basic with different client ids', { client_id: 'other' }, basic('app:s')],
    ['a secret without a client_id', { client_secret: 's' }, undefined],
    ['HTTP Basic that is not base64, even if the form has a client_id', { client_id: 'app' }, 'Basic !!!'],
    ['HTTP Basic without a colon', {}, basic('app')],
    ['HTTP Basic with an empty client id', {}, basic(':secret')],
    ['a broken percent-encoding in the client id', {}, basic('a%ZZ:secret')],
    ['a broken percent-encoding in the secret', {}, basic('app:%')],
    ['bytes that are not UTF-8', {}, basic([0x61, 0x3a, 0xff])],
    ['a NUL in the secret', {}, basic('app:a%00b')],
  ])('refuses %s', (_what, fields, authorization) => {
    expect(verdictOf(() => read(fields, authorization))).toBe('invalid_request');
  });

  it('decodes any form-encoded client id and secret', () => {
    const half = (constraints: fc.StringConstraints) =>
      text(constraints).filter((value) => !value.includes('\uFFFD'));
    forAny(half({ minLength: 1 }), half({}), (id, secret) => {
      const header = basic(`${formEncode(id)}:${formEncode(secret)}`);
      expect(read({}, header)).toEqual({ id, secret: secret === '' ? null : secret });
    });
  });
});
