import { invalidRequest } from './error.ts';
import type { Parameters } from './parameters.ts';

const WRONG_CHALLENGE = { reason: 'wrong_parameter', parameter: 'code_challenge' } as const;
const WRONG_METHOD = { reason: 'wrong_parameter', parameter: 'code_challenge_method' } as const;

/**
 * The PKCE challenge of an authorization request (RFC 7636 section 4.3): S256 only, because a `plain` challenge is the
 * verifier itself.
 *
 * @returns base64url of a SHA-256, 43 characters, as sent; null when none was sent
 * @throws {OAuthError} `invalid_request`
 */
export function parseCodeChallenge(parameters: Parameters): string | null {
  const challenge = parameters.get('code_challenge');
  const method = parameters.get('code_challenge_method');
  if (challenge === undefined) {
    if (method === undefined) return null;
    throw invalidRequest('code_challenge_method was sent without code_challenge.', WRONG_METHOD);
  }
  if (method !== 'S256') throw invalidRequest('code_challenge_method must be S256.', WRONG_METHOD);
  // The last of 43 characters carries 4 bits, so only 16 of the 64 letters can end a SHA-256.
  if (!/^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/.test(challenge)) {
    throw invalidRequest('code_challenge is not the base64url form of a SHA-256.', WRONG_CHALLENGE);
  }
  return challenge;
}

/**
 * The PKCE verifier of a token request (RFC 7636 section 4.1), null when none was sent.
 *
 * @throws {OAuthError} `invalid_request`
 */
export function parseCodeVerifier(parameters: Parameters): string | null {
  const verifier = parameters.get('code_verifier');
  if (verifier === undefined) return null;
  if (!/^[A-Za-z0-9\-._~]{43,128}$/.test(verifier)) {
    throw invalidRequest('code_verifier must have 43 to 128 letters, digits or -._~ characters.');
  }
  return verifier;
}
