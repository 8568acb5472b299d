import { parseClientCredentials } from './clientCredentials.ts';
import { parseCodeVerifier } from './codeChallenge.ts';
import { invalidRequest } from './error.ts';
import type { Parameters } from './parameters.ts';

const TOKEN_PARAMETERS = [
  'code',
  'client_id',
  'grant_type',
  'redirect_uri',
  'client_secret',
  'code_verifier',
] as const;

/** A well-formed token request (contract 2.4). Whether a token is issued is decided by `store/exchanges.ts`. */
export interface TokenRequest {
  readonly code: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly redirectUri: string;
  readonly codeVerifier: string | null;
}

/**
 * Checks the form of a token request (contract 2.4, 4.2 and 7.2), in this order.
 *
 * @param query the parameters of the URL, where none is allowed
 * @param authorization the `Authorization` header, if any
 * @throws {OAuthError} `invalid_request`
 */
export function parseTokenRequest(
  query: Parameters,
  body: Parameters,
  authorization: string | undefined,
): TokenRequest {
  checkUrl(query);
  const { id, secret } = parseClientCredentials(body, authorization);
  checkGrantType(body.require('grant_type'));
  const code = body.require('code');
  const redirectUri = body.require('redirect_uri');
  const codeVerifier = parseCodeVerifier(body);
  return { code, clientId: id, clientSecret: secret, redirectUri, codeVerifier };
}

/** Contract 4: the parameters are in the body (RFC 6749 section 2.3.1): URLs end up in access logs. */
function checkUrl(query: Parameters): void {
  if (query.hasAny(TOKEN_PARAMETERS)) {
    throw invalidRequest('Send the parameters in the body: a URL ends up in access logs.');
  }
}

/** Contract 2.4, grant_type: the fixed value `authorization_code`. */
function checkGrantType(value: string): void {
  if (value !== 'authorization_code') {
    throw invalidRequest('The parameter grant_type must be authorization_code.');
  }
}
