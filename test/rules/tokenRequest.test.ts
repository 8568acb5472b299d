import { describe, expect, it } from 'vitest';
import { parseClientCredentials } from '../../src/rules/request/clientCredentials.ts';
import { Parameters } from '../../src/rules/request/parameters.ts';
import { parseTokenRequest } from '../../src/rules/request/tokenRequest.ts';
import { refusalOf, verdictOf } from './refusal.ts';

const FIELDS = {
  code: 'the code',
  client_id: 'app',
  grant_type: 'authorization_code',
  redirect_uri: 'https://app.example/cb?x=1',
};
const VERIFIER = 'v'.repeat(43);

const NONE = new Parameters('');
const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
const read = (fields: Record<string, string>, authorization?: string) =>
  parseTokenRequest(NONE, new Parameters(form(fields)), authorization);
const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
const without = (name: keyof typeof FIELDS) =>
  Object.fromEntries(Object.entries(FIELDS).filter(([field]) => field !== name));

describe('contract 2.4: the fields of a token request', () => {
  it('reads the four fields of an application without verification', () => {
    expect(read(FIELDS)).toEqual({
      code: 'the code',
      clientId: 'app',
      clientSecret: null,
      redirectUri: 'https://app.example/cb?x=1',
      codeVerifier: null,
    });
  });

  it.each([
    ['s', VERIFIER, 's', VERIFIER],
    ['', '', null, null],
  ])(
    'reads the client secret %j and the code verifier %j',
    (client_secret, code_verifier, clientSecret, codeVerifier) => {
      expect(read({ ...FIELDS, client_secret, code_verifier })).toMatchObject({ clientSecret, codeVerifier });
    },
  );

  it('ignores unknown fields, also duplicate and undecodable ones', () => {
    const parameters = new Parameters(`${form(FIELDS)}&scope=a&scope=b&other=%FF`);
    expect(parseTokenRequest(NONE, parameters, undefined)).toEqual(read(FIELDS));
  });

  it.each(['code', 'client_id', 'grant_type', 'redirect_uri'] as const)(
    '7.2 refuses a request without %s',
    (name) => {
      for (const fields of [without(name), { ...FIELDS, [name]: '' }]) {
        const refusal = refusalOf(() => read(fields));
        expect(refusal.code).toBe('invalid_request');
        expect(refusal.message).toContain(name);
      }
    },
  );

  it.each(['code', 'client_id', 'grant_type', 'redirect_uri', 'client_secret', 'code_verifier'])(
    '7.2 refuses a request with a duplicate %s, or one that is not UTF-8',
    (name) => {
      const complete = form({ ...FIELDS, client_secret: 's', code_verifier: VERIFIER });
      for (const encoded of [`${complete}&${name}=x`, complete.replace(`${name}=`, `${name}=%FF`)]) {
        const refusal = refusalOf(() => parseTokenRequest(NONE, new Parameters(encoded), undefined));
        expect(refusal.code).toBe('invalid_request');
        expect(refusal.message).toContain(name);
      }
    },
  );

  it.each(['refresh_token', 'Authorization_Code', 'authorization_code ', 'code'])(
    '7.2 refuses the grant_type %j',
    (value) => {
      expect(verdictOf(() => read({ ...FIELDS, grant_type: value }))).toBe('invalid_request');
    },
  );

  it('refuses an invalid code_verifier', () => {
    expect(verdictOf(() => read({ ...FIELDS, code_verifier: 'short' }))).toBe('invalid_request');
  });
});

describe('client authentication by form or by HTTP Basic', () => {
  const credentials = (fields: Record<string, string>, authorization?: string) =>
    parseClientCredentials(new Parameters(form(fields)), authorization);

  it.each<[string, Record<string, string>, string | undefined, string | null]>([
    ['from the form', { client_id: 'app', client_secret: 's' }, undefined, 's'],
    ['from the form, without a secret', { client_id: 'app' }, undefined, null],
    ['from HTTP Basic, without a secret', {}, basic('app', ''), null],
    ['from both when they agree', { client_id: 'app' }, basic('app', 's'), 's'],
    ['from HTTP Basic beside an empty secret', { client_secret: '' }, basic('app', 's'), 's'],
    ['from the form beside an empty password', { client_secret: 's' }, basic('app', ''), 's'],
    ['from the form beside another scheme', { client_id: 'app' }, 'Bearer x', null],
  ])('accepts %s', (_where, fields, authorization, secret) => {
    expect(credentials(fields, authorization)).toEqual({ id: 'app', secret });
  });

  it.each<[string, Record<string, string>, string | undefined]>([
    ['a secret in both places', { client_secret: 's' }, basic('app', 's')],
    ['two different applications', { client_id: 'other' }, basic('app', 's')],
    ['an application in neither', { client_secret: 's' }, undefined],
    ['unreadable HTTP Basic, whatever the form says', { client_id: 'app' }, 'Basic !!!'],
  ])('refuses %s', (_what, fields, authorization) => {
    expect(verdictOf(() => credentials(fields, authorization))).toBe('invalid_request');
  });
});

describe('contract 4: the place of the parameters of a token request', () => {
  it.each([...Object.keys(FIELDS), 'client_secret', 'code_verifier'])(
    'refuses a request with %s in the URL, before any other check',
    (name) => {
      const refusal = refusalOf(() => parseTokenRequest(new Parameters(`${name}=`), NONE, 'Basic ?'));
      expect(refusal).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('a URL') });
    },
  );

  it('ignores other parameters in the URL', () => {
    const body = new Parameters(form(FIELDS));
    expect(parseTokenRequest(new Parameters('utm=1'), body, undefined)).toEqual(read(FIELDS));
  });
});
