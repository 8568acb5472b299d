import { describe, expect, it } from 'vitest';
import { parseAuthorizationRequest } from '../../src/rules/request/authorizationRequest.ts';
import type { Client } from '../../src/rules/request/client.ts';
import { Parameters } from '../../src/rules/request/parameters.ts';
import { answerLocation, redirectUriDoubt } from '../../src/rules/request/redirectUri.ts';
import { BUILT_IN_OFFER } from '../../src/rules/request/scopeRules.ts';
import { refusalOf } from '../rules/refusal.ts';

// What docs/trust/conformance.md says of an application that is held to OAuth 2.1, and of redirect URIs to register.

const CLIENT: Client = {
  ...{ clientId: 'app', name: 'Demo Shop', redirectUri: 'http://127.0.0.1/cb', verified: false },
  ...{ status: 'active', allowedRights: null, most: null, site: null, logo: null, reviewed: false },
  ...{ userLimits: false, oauth21: true, createdAt: new Date(), revision: 1 },
};
const PKCE = {
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
};

function ask(redirect_uri: string, more: Partial<typeof PKCE> = PKCE, client: Partial<Client> = {}) {
  const fields = { client_id: 'app', response_type: 'code', redirect_uri, scope: 'account-info', ...more };
  const parameters = new Parameters(new URLSearchParams(fields).toString());
  return parseAuthorizationRequest(parameters, { ...CLIENT, ...client }, BUILT_IN_OFFER).redirectUri;
}
const refused = (...given: [string, Partial<typeof PKCE>?, Partial<Client>?]) =>
  refusalOf(() => ask(...given)).ruleId;

describe('an application that is held to OAuth 2.1', () => {
  it('must send code_challenge', () => {
    expect(refused(CLIENT.redirectUri, {})).toBe('needs_pkce');
    expect(ask(CLIENT.redirectUri, {}, { oauth21: false })).toBe(CLIENT.redirectUri);
  });

  it.each(['http://127.0.0.1', 'http://[::1]'])('may choose the port of %s', (host) => {
    const client = { redirectUri: `${host}:8080/cb` };
    for (const port of ['', ':1', ':8080', ':65535'])
      expect(ask(`${host}${port}/cb`, PKCE, client)).toBe(`${host}${port}/cb`);
    expect(refused(`${host}:1/cb`, PKCE, { ...client, oauth21: false })).toBe('redirect_uri_unregistered');
  });

  it.each([
    ...['http://localhost:1/cb', 'https://127.0.0.1:1/cb', 'http://[::1]:1/cb', 'http://127.0.0.2:1/cb'],
    ...[
      'http://127.0.0.1:65536/cb',
      'http://127.0.0.1:01/cb',
      'http://127.0.0.1:1/other',
      'http://127.0.0.1:1',
    ],
    'http://127.0.0.1:1@evil.example/cb',
  ])('may choose nothing else: %s', (uri) => {
    expect(refused(uri)).toBe('redirect_uri_unregistered');
  });

  it('may choose no port of localhost and of another host', () => {
    for (const host of ['http://localhost', 'http://app.example', 'https://127.0.0.1'])
      expect(refused(`${host}:1/cb`, PKCE, { redirectUri: `${host}/cb` })).toBe('redirect_uri_unregistered');
  });

  it('gets iss before code and before error', () => {
    const request = { redirectUri: 'https://app.example/cb', state: 's' };
    const answers = (['code', 'error'] as const).map((name) =>
      answerLocation(request, name, 'x', 'https://pay.example').split('?').pop(),
    );
    const before = 'state=s&iss=https%3A%2F%2Fpay.example';
    expect(answers).toEqual([`${before}&code=x`, `${before}&error=x`]);
  });
});

describe('a redirect URI to register', () => {
  it.each(['http://app.example/cb', 'http://10.0.0.1/cb', 'intent://x', 'android-app://x', 'market://x'])(
    'needs --force: %s',
    (uri) => {
      expect(redirectUriDoubt(uri)).not.toBeNull();
    },
  );

  it.each(['https://app.example/cb', 'http://127.0.0.1/cb', 'http://[::1]/cb', 'com.example.app:/cb'])(
    'needs none: %s',
    (uri) => {
      expect(redirectUriDoubt(uri)).toBeNull();
    },
  );
});
