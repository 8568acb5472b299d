import type { IDToken, ResponseBodyError } from 'openid-client';
import { OAuthError } from '../../../rules/common/error.ts';
import { s256 } from '../../../secrets/digest.ts';
import { describeCause, type Provider, ProviderAwayError } from '../../common/provider.ts';
import type { PendingSignIn } from './signInCookie.ts';
import { refused } from './user.ts';

export type RunLimited = <Result>(exchange: () => Promise<Result>) => Promise<Result>;

/** The claims of an answer; null if the user did not sign in there. The library checks `state`, `iss`, `nonce`, `aud`, `exp`. */
export async function redeemProviderCode(
  provider: Provider,
  signIn: PendingSignIn,
  url: URL,
  runLimited: RunLimited,
) {
  const { openid, configuration } = await provider.client();
  const { state: expectedState, nonce: expectedNonce, verifier: pkceCodeVerifier } = signIn;
  const checks = { expectedState, expectedNonce, pkceCodeVerifier, idTokenExpected: true };
  const exchange = () => openid.authorizationCodeGrant(configuration, url, checks);
  try {
    const tokens = await (url.searchParams.get('error') ? exchange() : runLimited(exchange));
    const claims = tokens.claims();
    const hash = s256(`${signIn.decision}`);
    const details = [claims?.authorization_details, tokens.authorization_details].flat().map(Object);
    // RFC 9396, section 7: an answer that says what was confirmed says this decision.
    if (details.some(({ type, decision_hash }) => type === PAYMENT_DETAILS_TYPE && decision_hash !== hash))
      throw refused('sign_in_unconfirmed', 'the authorization_details are of another decision');
    return claims ? { ...claims, accessToken: tokens.access_token } : null;
  } catch (error) {
    if (error instanceof openid.AuthorizationResponseError && error.error === 'access_denied') return null;
    throw failureOf(error);
  }
}

/** The type of our `authorization_details` (RFC 9396, section 2). */
export const PAYMENT_DETAILS_TYPE = 'payment_authorization';

/** After these it helps to begin again: Keycloak's for a login page that was open for too long is the first. */
const UNFINISHED = /^(temporarily_unavailable|server_error|(login|interaction|consent)_required)$/;

/** An error of the library: the provider is away or fails, the sign-in did not end there, or its answer can't be used. */
function failureOf(error: unknown): unknown {
  if (error instanceof OAuthError || error instanceof ProviderAwayError) return error;
  const { code, error: word = '', cause, status = 0 } = error as Partial<ResponseBodyError>;
  const isUnfinished = UNFINISHED.test(word);
  const ruleId = isUnfinished ? 'sign_in_unfinished' : 'sign_in_failed';
  if (`${code}` === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR')
    return refused(ruleId, `the provider answered ${wordOf(word)}`);
  const answered = cause instanceof Response ? cause.status : status;
  const isAway = isUnfinished || answered === 429 || answered >= 500;
  if (isAway || !/^OAUTH_(?!TIMEOUT)/.test(`${code}`)) return new ProviderAwayError(error);
  const said = word
    ? `token endpoint answered ${wordOf(word)}`
    : `answer was refused: ${describeCause(error)}`;
  return refused('sign_in_failed', `the provider’s ${said}`);
}

const wordOf = (error: string) => /^\w{1,40}$/.exec(error)?.[0] ?? 'an error';

/** Of the clocks: the library would tolerate 30 seconds, in which an earlier sign-in could be used. */
const TOLERANCE_MS = 10_000;

/** The provider confirmed a payment now, in the required way (OpenID Connect Core 1.0, section 2: `acr`, `auth_time`). */
export function requireConfirmation(claims: IDToken, { paymentAcr }: Provider, { at }: PendingSignIn): void {
  if (claims.acr !== paymentAcr)
    throw refused('sign_in_unconfirmed', 'the acr of the answer is not SIGN_IN_PAYMENT_ACR');
  const time = Number(claims.auth_time) * 1000;
  if (!(time >= at - TOLERANCE_MS && time <= Date.now() + TOLERANCE_MS))
    throw refused('sign_in_unconfirmed', 'the auth_time is missing, too early or in the future');
}
