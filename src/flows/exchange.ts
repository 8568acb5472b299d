import type { Caller } from '../rules/caller.ts';
import { OAuthError, type OAuthErrorCode } from '../rules/error.ts';
import { tokenLifetimeSeconds } from '../rules/lifetimes.ts';
import type { TokenRequest } from '../rules/tokenRequest.ts';
import { s256, sha256 } from '../secrets/digest.ts';
import { randomSecret } from '../secrets/random.ts';
import { formatToken, parseToken } from '../secrets/tokens.ts';
import { tell } from '../signals/happenings.ts';
import { TooLateError } from '../store/database/errors.ts';
import { type ExchangeRefusal, exchangeCode } from '../store/exchanges.ts';
import type { Context } from './context.ts';

/** Stands for the place of a code that names none: no token is issued for it, but the statement takes a token's hash. */
const STAND_IN = { grantId: '00000000-0000-0000-0000-000000000000', userSlot: 0 };

/** A freshly issued access token. */
export interface IssuedToken {
  readonly accessToken: string;
  /** In seconds. */
  readonly expiresIn: number;
  /** What was granted, where that is less than what was asked; null otherwise. */
  readonly scope: string | null;
}

/**
 * Exchanges an authorization code for an access token (contract 4.2, section 3).
 *
 * @throws {OAuthError} `unauthorized_client`, `invalid_grant` or `invalid_request` (contract 7.2)
 */
export async function exchange(
  { db }: Context,
  tokenRequest: TokenRequest,
  caller: Caller,
): Promise<IssuedToken> {
  const code = parseToken('code', tokenRequest.code);
  const place = code.grantId === null ? STAND_IN : code;
  const accessToken = formatToken('token', place, randomSecret());
  const result = await exchangeCode(db, {
    grantId: code.grantId,
    codeHash: code.hash,
    clientId: tokenRequest.clientId,
    secretHash: tokenRequest.clientSecret === null ? null : sha256(tokenRequest.clientSecret),
    redirectUri: tokenRequest.redirectUri,
    challenge: tokenRequest.codeVerifier === null ? null : s256(tokenRequest.codeVerifier),
    tokenHash: sha256(accessToken),
    caller,
  });
  tell('exchange', result.verdict);
  if (result.verdict === 'code_replayed') tell('grantEnd', 'replay');
  if (result.verdict === 'issued') {
    return { accessToken, expiresIn: tokenLifetimeSeconds(result.issuedAt), scope: result.scope };
  }
  if (result.verdict === 'late') throw new TooLateError();
  const isMalformed = result.verdict === 'code_unknown' && code.grantId === null;
  const [error, message, rule] = isMalformed ? MALFORMED : REFUSALS[result.verdict];
  throw new OAuthError(error, message, { rule });
}

const NOT_AUTHENTICATED = [
  'unauthorized_client',
  'The client is unknown, blocked or not authenticated.',
] as const;
const INVALID_CODE = ['invalid_grant', 'The code is not valid.'] as const;
const MALFORMED = [...INVALID_CODE, 'code never issued: it has not the form of ours'] as const;

/** Contract 7.2: what the application is told, and what the log says. */
const REFUSALS: Record<ExchangeRefusal, readonly [OAuthErrorCode, message: string, rule: string]> = {
  client_unknown_or_blocked: [...NOT_AUTHENTICATED, 'unknown or blocked client'],
  secret_wrong: [...NOT_AUTHENTICATED, 'wrong or missing client_secret'],
  code_unknown: [...INVALID_CODE, 'code never issued to this client, or annulled'],
  code_expired: [...INVALID_CODE, 'code expired'],
  client_changed: [...INVALID_CODE, 'the client was changed after the code was given'],
  redirect_uri_differs: [
    'invalid_request',
    'The parameter redirect_uri is not the one of the authorization request.',
    'redirect_uri differs from the authorization request; the code stays usable',
  ],
  verifier_missing: [...INVALID_CODE, 'no code_verifier after a code_challenge; the code stays usable'],
  verifier_unneeded: [...INVALID_CODE, 'code_verifier after no code_challenge; the code stays usable'],
  verifier_mismatch: [...INVALID_CODE, 'code_verifier does not match; the code stays usable'],
  code_replayed: [...INVALID_CODE, 'code used again: the token issued from it is revoked'],
  code_used: [...INVALID_CODE, 'code used or revoked before'],
  user_blocked: [...INVALID_CODE, 'the user is blocked'],
};
