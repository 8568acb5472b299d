import { OAuthError } from '../common/error.ts';
import { parseClientCredentials } from './clientCredentials.ts';
import { parseCodeVerifier } from './codeChallenge.ts';
import type { Parameters } from './parameters.ts';

const PARAMETERS = ['code', 'client_id', 'grant_type', 'redirect_uri', 'client_secret', 'code_verifier'];

/** A well-formed token request (contract 2.4); `store/token/exchanges.ts` decides on it. */
export interface TokenRequest {
  readonly code: string;
  readonly clientId: string;
  /** From the form or HTTP Basic (RFC 6749 section 2.3.1); null for none. */
  readonly clientSecret: string | null;
  /** As at the authorization request, byte for byte (RFC 6749 section 4.1.3). */
  readonly redirectUri: string;
  /** The PKCE verifier (RFC 7636 section 4.1); null for none. */
  readonly codeVerifier: string | null;
}

/** Checks the form of a token request (contract 2.4, 4.2 and 7.2), in this order. @throws {OAuthError} `invalid_request` */
export function parseTokenRequest(
  query: Parameters,
  body: Parameters,
  authorization: string | undefined,
): TokenRequest {
  // RFC 6749 section 2.3.1: the parameters are in the body.
  if (query.hasAny(PARAMETERS)) {
    const message = 'Send the parameters in the body: a URL ends up in access logs.';
    throw new OAuthError('parameters_in_url', message);
  }
  const { id, secret } = parseClientCredentials(body, authorization);
  body.requireValue('grant_type', 'authorization_code', 'wrong_grant_type');
  const code = body.require('code');
  const redirectUri = body.require('redirect_uri');
  const codeVerifier = parseCodeVerifier(body);
  return { code, clientId: id, clientSecret: secret, redirectUri, codeVerifier };
}
