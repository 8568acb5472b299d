import type { Caller } from '../../rules/common/caller.ts';
import { OAuthError } from '../../rules/common/error.ts';
import { tokenLifetimeSeconds } from '../../rules/common/lifetimes.ts';
import type { TokenRequest } from '../../rules/request/tokenRequest.ts';
import { s256, sha256 } from '../../secrets/digest.ts';
import { randomSecret } from '../../secrets/random.ts';
import { formatToken, parseToken } from '../../secrets/tokens.ts';
import { emit } from '../../signals/events.ts';
import { type ExchangeVerdict, exchangeCode } from '../../store/token/exchanges.ts';
import type { Context } from '../common/context.ts';

/** Replaces the row of a code that names none: the statement needs a token's hash, but issues none. */
const STAND_IN = { grantId: '00000000-0000-0000-0000-000000000000', userSlot: 0 };

/**
 * Exchanges an authorization code for an access token (contract 4.2 and section 3).
 * @returns `expiresIn` in seconds; `scope`: the granted one if it is less than the requested one, null otherwise
 * @throws {OAuthError} `unauthorized_client`, `invalid_grant` or `invalid_request` (contract 7.2)
 */
export async function exchange({ db }: Context, tokenRequest: TokenRequest, caller: Caller) {
  const code = parseToken('code', tokenRequest.code);
  const row = code.grantId === null ? STAND_IN : code;
  const accessToken = formatToken('token', row, randomSecret());
  const result = await exchangeCode(db, {
    grantId: code.grantId,
    codeHash: code.hash,
    clientId: tokenRequest.clientId,
    secretHash: tokenRequest.clientSecret === null ? null : sha256(tokenRequest.clientSecret),
    redirectUri: tokenRequest.redirectUri,
    challenge: tokenRequest.codeVerifier === null ? null : s256(tokenRequest.codeVerifier),
    tokenHash: sha256(accessToken),
    ...caller,
  });
  emit('exchange', result.verdict);
  if (result.verdict === 'code_replayed') emit('grantEnd', 'replay');
  if (result.verdict === 'issued') {
    const { issuedAt, scope } = result;
    return { accessToken, expiresIn: tokenLifetimeSeconds(issuedAt), grantId: row.grantId, scope };
  }
  const isMalformed = result.verdict === 'code_unknown' && code.grantId === null;
  const ruleId = isMalformed ? 'code_malformed' : result.verdict;
  const [message, rule] = EXCHANGE_ERRORS[ruleId];
  const clientId = result.known ? tokenRequest.clientId : null;
  throw new OAuthError(ruleId, message, { rule, clientId });
}

export const NOT_AUTHENTICATED = 'The client is unknown, blocked or not authenticated.';
const INVALID_CODE = 'The code is not valid.';

/** Contract 7.2: the messages for the application, and the rules for the log. */
const EXCHANGE_ERRORS: Record<ExchangeVerdict | 'code_malformed', readonly [message: string, rule: string]> =
  {
    client_unknown_or_blocked: [NOT_AUTHENTICATED, 'unknown or blocked client'],
    secret_wrong: [NOT_AUTHENTICATED, 'wrong or missing client_secret'],
    code_malformed: [INVALID_CODE, 'malformed code: not issued by this server'],
    code_unknown: [INVALID_CODE, 'code never issued to this client, or annulled'],
    code_expired: [INVALID_CODE, 'code expired'],
    client_changed: [INVALID_CODE, 'the client was changed after the code was issued'],
    redirect_uri_differs: [
      'The parameter redirect_uri differs from the authorization request.',
      'redirect_uri differs from the authorization request; the code stays usable',
    ],
    verifier_missing: [
      INVALID_CODE,
      'code_verifier is missing, but the request had a code_challenge; the code stays usable',
    ],
    verifier_unneeded: [
      INVALID_CODE,
      'code_verifier was sent, but the request had no code_challenge; the code stays usable',
    ],
    verifier_mismatch: [INVALID_CODE, 'code_verifier does not match; the code stays usable'],
    code_replayed: [INVALID_CODE, 'code used again: the token issued from it is revoked'],
    code_used: [INVALID_CODE, 'code used or revoked before'],
    user_blocked: [INVALID_CODE, 'the user is blocked'],
  };
