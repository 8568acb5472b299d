import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAuthorizationRequest } from '../../src/rules/request/authorizationRequest.ts';
import type { Client } from '../../src/rules/request/client.ts';
import { Parameters } from '../../src/rules/request/parameters.ts';
import { forAny, text } from './arbitraries.ts';
import { refusalOf, verdictOf } from './refusal.ts';
import { OFFER } from './rubles.ts';

const CLIENT: Client = {
  clientId: 'app',
  name: 'Demo Shop',
  redirectUri: 'https://app.example/cb',
  verified: false,
  status: 'active',
  allowedRights: null,
  site: null,
  logo: null,
  reviewed: false,
  userLimits: false,
  oauth21: false,
  eventsUri: null,
  eventsInternal: false,
  most: null,
  createdAt: new Date('2026-05-03T12:00:00Z'),
  revision: 1,
};
const FIELDS = {
  client_id: 'app',
  response_type: 'code',
  redirect_uri: 'https://app.example/cb',
  scope: 'account-info',
};
const CANONICAL = `${new URLSearchParams(FIELDS)}`;
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

const readEncoded = (encoded: string, client: Client | null = CLIENT) =>
  parseAuthorizationRequest(new Parameters(encoded), client, OFFER);
const read = (fields: Record<string, string>, client?: Client | null) =>
  readEncoded(`${new URLSearchParams({ ...FIELDS, ...fields })}`, client);

describe('contract 2.2: the fields of an authorization request', () => {
  it.each([
    ...['Code', 'code token', 'code '].map((value) => ['response_type', value] as const),
    ...['é'.repeat(128), 'anna\n', 'anna\u3164', ' '].map((value) => ['instance_name', value] as const),
  ])('refuses the %s %j', (name, value) => {
    expect(verdictOf(() => read({ [name]: value }))).toBe('invalid_request');
  });
});

describe('the error for an authorization request with several invalid fields', () => {
  const wrong = {
    redirect_uri: 'https://evil.example/',
    response_type: 'token',
    scope: 'everything',
    instance_name: '\n',
    code_challenge_method: 'S256',
  };
  const right = { ...FIELDS, instance_name: '', code_challenge_method: '' };
  const order = Object.keys(wrong) as (keyof typeof wrong)[];

  it.each([
    ['unauthorized_client', 'client_unregistered', 0],
    ['invalid_request', 'redirect_uri_unregistered', 0],
    ['invalid_request', 'wrong_response_type', 1],
    ['invalid_scope', 'right_not_offered', 2],
    ['invalid_request', 'unclear_instance_name', 3],
    ['invalid_request', 'wrong_code_challenge', 4],
    ['invalid_request', 'needs_pkce', 5],
  ])('is %s (rule %s) if only the first %i fields are valid', (code, ruleId, count) => {
    const client = ruleId === 'client_unregistered' ? null : { ...CLIENT, oauth21: true };
    const repaired = Object.fromEntries(order.slice(0, count).map((name) => [name, right[name]]));
    expect(refusalOf(() => read({ ...wrong, ...repaired }, client))).toMatchObject({ code, ruleId });
  });

  it('is that of a wrong redirect_uri, not of duplicates of later parameters', () => {
    const refusal = refusalOf(() =>
      readEncoded('client_id=app&redirect_uri=x&scope=a&scope=b&state=a&state=b'),
    );
    expect(refusal.message).toContain('redirect_uri');
  });
});

describe('the canonical query', () => {
  it('parses to the same request, with the same canonical query', () => {
    const fields = fc.record({
      client_id: fc.constant('app'),
      response_type: fc.constant('code'),
      redirect_uri: fc.constantFrom(CLIENT.redirectUri, `${CLIENT.redirectUri}?x=%7E+1&y=https://a/?b`),
      scope: fc.constantFrom(
        'account-info',
        ' account-info  payment-shop.limit(, 5)',
        'payment.to-pattern("+%&\\"") account-info',
      ),
      instance_name: fc.constantFrom('', 'anna+1', 'Анна & co', '%41'),
      state: text(),
      client_secret: fc.constantFrom('', 's3cret'),
      code_challenge: fc.constant(CHALLENGE),
      code_challenge_method: fc.constant('S256'),
    });
    forAny(fields, (sent) => {
      const request = read(sent);
      expect(readEncoded(request.canonicalQuery)).toEqual(request);
      expect(request.canonicalQuery).not.toContain('+');
      expect(request.canonicalQuery).not.toContain('s3cret');
      expect(request.state).toBe(sent.state === '' ? null : sent.state);
    });
  });

  it('has a limited length, not counting ignored parameters', () => {
    const room = 6000 - `${CANONICAL}&state=`.length;
    expect(read({ state: 'x'.repeat(room) }).canonicalQuery).toHaveLength(6000);
    expect(verdictOf(() => read({ state: 'x'.repeat(room + 1) }))).toBe('invalid_request');
    expect(verdictOf(() => read({ state: 'é'.repeat(1001) }))).toBe('invalid_request');
    expect(read({ unknown: 'x'.repeat(6000) }).canonicalQuery).toBe(CANONICAL);
  });
});
