import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBasicCredentials } from '../../src/rules/request/clientCredentials.ts';
import { anyString, forAny, text } from './arbitraries.ts';
import { verdictOf } from './refusal.ts';

const base64 = (value: string | number[]) => Buffer.from(value as string).toString('base64');
/** One half as RFC 6749 section 2.3.1 and appendix B have it encoded. */
const formEncode = (value: string) => new URLSearchParams([['', value]]).toString().slice(1);

describe('RFC 6749 section 2.3.1: HTTP Basic', () => {
  it.each([
    ['no header', undefined],
    ['another scheme', `Bearer ${base64('app:secret')}`],
    ['a scheme that only begins like it', `Basically ${base64('app:secret')}`],
  ])('%s has no credentials', (_what, header) => {
    expect(parseBasicCredentials(header)).toBeNull();
  });

  it.each([
    ['an id and a secret', 'app:secret', 'app', 'secret'],
    ['an empty password as no secret', 'app:', 'app', null],
    ['a colon in the secret', 'app:a:b', 'app', 'a:b'],
    ['percent-encoding in both halves', 'a%3Ap:s%25%2Bt', 'a:p', 's%+t'],
    ['a plus as a space', 'my+app:my+secret', 'my app', 'my secret'],
    ['UTF-8 as it is', 'app:пароль', 'app', 'пароль'],
  ])('reads %s', (_what, pair, id, secret) => {
    expect(parseBasicCredentials(`Basic ${base64(pair)}`)).toEqual({ id, secret });
  });

  it.each(['basic', 'BASIC', 'Basic '])(
    'accepts the scheme in any case and with more spaces: %j',
    (scheme) => {
      expect(parseBasicCredentials(`${scheme} ${base64('app:s')}`)).toEqual({ id: 'app', secret: 's' });
    },
  );

  it.each([
    ['no colon', base64('app')],
    ['no id', base64(':secret')],
    ['no base64', '!!!'],
    ['a broken escape in the id', base64('a%ZZ:secret')],
    ['a broken escape in the secret', base64('app:%')],
    ['bytes that are not UTF-8', base64([0x61, 0x3a, 0xff])],
    ['a NUL', base64('app:a%00b')],
  ])('refuses %s', (_what, encoded) => {
    expect(verdictOf(() => parseBasicCredentials(`Basic ${encoded}`))).toBe('invalid_request');
  });

  it('decodes any encoded id and secret', () => {
    const half = (constraints: fc.StringConstraints) =>
      text(constraints).filter((value) => !value.includes('\uFFFD'));
    forAny(half({ minLength: 1 }), half({}), (id, secret) => {
      const header = `Basic ${base64(`${formEncode(id)}:${formEncode(secret)}`)}`;
      expect(parseBasicCredentials(header)).toEqual({ id, secret: secret === '' ? null : secret });
    });
  });

  it('fails only with OAuthError', () => {
    forAny(anyString, fc.boolean(), (value, encode) => {
      try {
        parseBasicCredentials(`Basic ${encode ? base64(value) : value}`);
      } catch (error) {
        expect(error).toMatchObject({ name: 'OAuthError', code: 'invalid_request' });
      }
    });
  });
});
