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
const CANONICAL =
  'client_id=app&response_type=code&redirect_uri=https%3A%2F%2Fapp.example%2Fcb&scope=account-info';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

const OPTIONAL = {
  instance_name: 'i',
  state: 's',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
};

const encode = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
const readEncoded = (encoded: string, client: Client | undefined = CLIENT) =>
  parseAuthorizationRequest(new Parameters(encoded), client, OFFER);
const read = (fields: Record<string, string>, client?: Client) =>
  readEncoded(encode({ ...FIELDS, ...fields }), client);

describe('contract 2.2: the fields of an authorization request', () => {
  it('reads the four required fields', () => {
    expect(read({})).toEqual({
      client: CLIENT,
      redirectUri: 'https://app.example/cb',
      scope: 'account-info',
      askedScope: 'account-info',
      rights: [{ name: 'account-info' }],
      instanceName: null,
      state: null,
      codeChallenge: null,
      canonicalQuery: CANONICAL,
    });
  });

  it('reads the optional fields, and keeps redirect_uri and scope as they were sent, byte for byte', () => {
    const redirect_uri = 'https://app.example/cb?x=%7e';
    const scope = ' account-info  money-source("cards", "wallet") ';
    expect(read({ ...OPTIONAL, redirect_uri, scope })).toMatchObject({
      redirectUri: redirect_uri,
      scope,
      instanceName: 'i',
      state: 's',
      codeChallenge: CHALLENGE,
    });
  });

  it('treats empty optional fields as omitted', () => {
    const empty = { instance_name: '', state: '', code_challenge: '', code_challenge_method: '' };
    expect(read(empty)).toEqual(read({}));
  });

  it('ignores unknown parameters, also duplicate and undecodable ones: a misplaced secret is not passed on', () => {
    const secrets = 'client_secret=s3cret&code_verifier=v&login=anna';
    expect(readEncoded(`x=1&x=2&${encode(FIELDS)}&y=%FF&%ZZ=1&${secrets}`)).toEqual(read({}));
  });

  it.each([
    ['redirect_uri', 'invalid_request'],
    ['response_type', 'invalid_request'],
    ['scope', 'invalid_scope'],
  ] as const)('7.1 refuses a request without %s with %s', (name, code) => {
    expect(verdictOf(() => read({ [name]: '' }))).toBe(code);
    expect(verdictOf(() => readEncoded(encode(FIELDS).replace(`${name}=`, 'x=')))).toBe(code);
  });

  it.each(['redirect_uri', 'response_type', 'scope', ...Object.keys(OPTIONAL)])(
    '4 refuses a %s that is not UTF-8, and a duplicate of it',
    (name) => {
      const others = encode(Object.fromEntries(Object.entries(FIELDS).filter(([field]) => field !== name)));
      const code = name === 'scope' ? 'invalid_scope' : 'invalid_request';
      expect(verdictOf(() => readEncoded(`${others}&${name}=%FF`))).toBe(code);
      expect(verdictOf(() => readEncoded(`${others}&${name}=x&${name}=x`))).toBe('invalid_request');
    },
  );

  it.each(['token', 'Code', 'code token', 'code '])('7.1 refuses the response_type %j', (value) => {
    expect(verdictOf(() => read({ response_type: value }))).toBe('invalid_request');
  });

  it('7.1 refuses an unknown and a blocked application with unauthorized_client, without a difference for the user', () => {
    const unknown = refusalOf(() => parseAuthorizationRequest(new Parameters(encode(FIELDS)), null, OFFER));
    const blocked = refusalOf(() => read({}, { ...CLIENT, status: 'blocked' }));
    expect([unknown.code, blocked.code]).toEqual(['unauthorized_client', 'unauthorized_client']);
    expect(blocked.message).toBe(unknown.message);
    expect(blocked.rule).not.toBe(unknown.rule);
  });

  it('2.2 refuses another redirect_uri, and names the first different character in the log only', () => {
    const refusal = refusalOf(() => read({ redirect_uri: 'https://app.example.evil.com/cb' }));
    expect(refusal.code).toBe('invalid_request');
    expect(refusal.rule).toContain('character 20');
    expect(refusal.message).not.toContain('evil');
  });
});

describe('an OAuth 2.1 request', () => {
  const held: Client = { ...CLIENT, redirectUri: 'http://127.0.0.1:9/cb', oauth21: true };
  const loose: Client = { ...held, oauth21: false };
  const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };

  it('requires PKCE, checked after everything else', () => {
    const without = { redirect_uri: held.redirectUri, code_challenge: '', code_challenge_method: '' };
    expect(refusalOf(() => read(without, held))).toMatchObject({
      code: 'invalid_request',
      ruleId: 'needs_pkce',
      parameter: 'code_challenge',
    });
    expect(read(without, loose).codeChallenge).toBeNull();
    expect(read({ ...without, ...pkce }, held)).toMatchObject({ client: held, codeChallenge: CHALLENGE });
    for (const [name, value, ruleId] of [
      ['redirect_uri', 'http://localhost:9/cb', 'redirect_uri_unregistered'],
      ['scope', 'everything', 'right_not_offered'],
      ['code_challenge_method', 'S256', 'wrong_code_challenge'],
    ] as const)
      expect(refusalOf(() => read({ ...without, [name]: value }, held)).ruleId).toBe(ruleId);
  });

  it('keeps the port that was sent, which other applications may not choose', () => {
    const redirect_uri = 'http://127.0.0.1:51234/cb?x=1';
    expect(read({ ...pkce, redirect_uri }, held)).toMatchObject({
      redirectUri: redirect_uri,
      canonicalQuery: expect.stringContaining(encodeURIComponent(redirect_uri)),
    });
    expect(refusalOf(() => read({ ...pkce, redirect_uri }, loose)).ruleId).toBe('redirect_uri_unregistered');
  });
});

describe('the order of the checks: client_id → redirect_uri → response_type → scope → instance_name', () => {
  const wrong = {
    redirect_uri: 'https://evil.example/',
    response_type: 'token',
    scope: 'everything',
    instance_name: '\n',
  };

  it.each([
    ['client_id', 'unauthorized_client', 'application', null, []],
    ['redirect_uri', 'invalid_request', 'redirect_uri', CLIENT, []],
    ['response_type', 'invalid_request', 'response_type', CLIENT, ['redirect_uri']],
    ['scope', 'invalid_scope', 'scope', CLIENT, ['redirect_uri', 'response_type']],
    ['instance_name', 'invalid_request', 'instance_name', CLIENT, ['redirect_uri', 'response_type', 'scope']],
  ] as const)('reports %s if it and all later ones are wrong', (_first, code, word, client, repaired) => {
    const right = Object.fromEntries(repaired.map((name) => [name, FIELDS[name]]));
    const parameters = new Parameters(encode({ ...FIELDS, ...wrong, ...right }));
    const refusal = refusalOf(() => parseAuthorizationRequest(parameters, client, OFFER));
    expect(refusal.code).toBe(code);
    expect(refusal.message).toContain(word);
  });

  it('a duplicate parameter is reported in its turn', () => {
    const doubled = 'scope=a&scope=b&state=a&state=b';
    const refusal = refusalOf(() => readEncoded(`client_id=app&redirect_uri=x&${doubled}`));
    expect(refusal.message).toContain('redirect_uri');
  });
});

describe('the canonical query', () => {
  it('has the known parameters in a fixed order, whatever the order they were sent in', () => {
    const expected = `${CANONICAL}&instance_name=i&state=s&code_challenge=${CHALLENGE}&code_challenge_method=S256`;
    const pairs = encode({ ...FIELDS, ...OPTIONAL }).split('&');
    forAny(fc.shuffledSubarray(pairs, { minLength: pairs.length }), (shuffled) => {
      expect(readEncoded(shuffled.join('&')).canonicalQuery).toBe(expected);
    });
  });

  it('parses to the same request and formats to itself', () => {
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
      const request = readEncoded(encode(sent));
      expect(readEncoded(request.canonicalQuery)).toEqual(request);
      expect(request.canonicalQuery).not.toContain('+');
      expect(request.canonicalQuery).not.toContain('s3cret');
      expect(request.state).toBe(sent.state === '' ? null : sent.state);
    });
  });

  it('refuses a canonical query of more than 6,000 bytes, not counting ignored parameters', () => {
    const room = 6000 - `${CANONICAL}&state=`.length;
    expect(read({ state: 'x'.repeat(room) }).canonicalQuery).toHaveLength(6000);
    expect(verdictOf(() => read({ state: 'x'.repeat(room + 1) }))).toBe('invalid_request');
    expect(verdictOf(() => read({ state: 'é'.repeat(1001) }))).toBe('invalid_request');
    expect(read({ unknown: 'x'.repeat(6000) }).canonicalQuery).toBe(CANONICAL);
  });
});
