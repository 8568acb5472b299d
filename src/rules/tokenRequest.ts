import { parseBasicCredentials } from './clientCredentials.ts';
import { parseCodeVerifier } from './codeChallenge.ts';
import { OAuthError } from './error.ts';
import type { Parameters } from './parameters.ts';

/** Fields of a token request; in a query string they would end up in access logs. */
export const TOKEN_PARAMETERS = [
  'code',
  'client_id',
  'grant_type',
  'redirect_uri',
  'client_secret',
  'code_verifier',
] as const;

/** A well-formed token request (contract 2.4). Whether it deserves a token is for the database to judge. */
export interface TokenRequest {
  readonly code: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly redirectUri: string;
  readonly codeVerifier: string | null;
}

/**
 * Checks the form of a token request (contract 2.4).
 *
 * @param authorization the `Authorization` header, if any: HTTP Basic is accepted too (RFC 6749 section 2.3.1)
 * @throws {OAuthError} `invalid_request`
 */
export function parseTokenRequest(parameters: Parameters, authorization: string | undefined): TokenRequest {
  const { id, secret } = parseClientCredentials(parameters, authorization);
  if (parameters.require('grant_type') !== 'authorization_code') {
    throw new OAuthError('invalid_request', 'The parameter grant_type must be authorization_code.');
  }
  const code = parameters.require('code');
  const redirectUri = parameters.require('redirect_uri');
  const codeVerifier = parseCodeVerifier(parameters);
  return { code, clientId: id, clientSecret: secret, redirectUri, codeVerifier };
}

/**
 * Who asks, by the form or by HTTP Basic but not by both.
 *
 * @throws {OAuthError} `invalid_request`
 */
export function parseClientCredentials(parameters: Parameters, authorization: string | undefined) {
  const basic = parseBasicCredentials(authorization);
  const id = parameters.get('client_id');
  const secret = parameters.get('client_secret') ?? null;
  if (basic === null) return { id: id ?? parameters.require('client_id'), secret };
  if (secret !== null && basic.secret !== null) {
    throw new OAuthError('invalid_request', 'The client secret was sent in the form and by HTTP Basic.');
  }
  if (id !== undefined && id !== basic.id) {
    throw new OAuthError('invalid_request', 'The form and HTTP Basic name two different applications.');
  }
  return { id: basic.id, secret: basic.secret ?? secret };
}
