import { OAuthError } from '../common/error.ts';
import type { Parameters } from './parameters.ts';

const wrong = (parameter: string, message: string) =>
  new OAuthError('wrong_code_challenge', message, { parameter });

/**
 * The PKCE challenge of an authorization request (RFC 7636 section 4.3), base64url of a SHA-256; null if it is missing. S256
 * only, because a `plain` challenge is the verifier itself. @throws {OAuthError} `invalid_request`
 */
export function parseCodeChallenge(parameters: Parameters): string | null {
  const challenge = parameters.get('code_challenge');
  const method = parameters.get('code_challenge_method');
  if (challenge === undefined) {
    if (method === undefined) return null;
    throw wrong('code_challenge_method', 'code_challenge_method was sent without code_challenge.');
  }
  if (method !== 'S256') throw wrong('code_challenge_method', 'code_challenge_method must be S256.');
  // The last of 43 characters carries 4 bits, so only 16 of the 64 letters can end a SHA-256.
  if (!/^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/.test(challenge))
    throw wrong('code_challenge', 'code_challenge is not the base64url form of a SHA-256.');
  return challenge;
}

/** The PKCE verifier of a token request (RFC 7636 section 4.1). @throws {OAuthError} `invalid_request` */
export function parseCodeVerifier(parameters: Parameters): string | null {
  const verifier = parameters.get('code_verifier');
  if (verifier === undefined) return null;
  if (/^[A-Za-z0-9\-._~]{43,128}$/.test(verifier)) return verifier;
  const message = 'code_verifier must have 43 to 128 letters, digits or -._~ characters.';
  throw new OAuthError('wrong_code_verifier', message);
}
