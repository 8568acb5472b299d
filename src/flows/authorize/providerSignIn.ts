import type { Caller } from '../../rules/common/caller.ts';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import type { Context } from '../common/context.ts';
import type { Provider } from '../common/provider.ts';
import { lastUserDigest } from '../signIn/device.ts';
import {
  PAYMENT_DETAILS_TYPE,
  type RunLimited,
  redeemProviderCode,
  requireConfirmation,
} from '../signIn/provider/answer.ts';
import type { ExchangeLimiter } from '../signIn/provider/exchangeLimiter.ts';
import { leaveForProvider } from '../signIn/provider/leaving.ts';
import { cookieOf, type PendingSignIn, type ProviderSignIn } from '../signIn/provider/signInCookie.ts';
import { openProviderSession, refused } from '../signIn/provider/user.ts';
import { currentSession, type SentCookies, type Session } from '../signIn/session.ts';
import { authorizationDetailsOf, writeDecision } from './decide.ts';
import { verifyDecision } from './decisionForms.ts';

// Sign-in of users at an OpenID provider (OpenID Connect Core 1.0, section 3.1): code flow with PKCE, `state`, `nonce` and `iss`.

interface SignInRequest {
  /** Null for a page of the account. */
  readonly authorizationRequest: AuthorizationRequest | null;
  readonly page: string | undefined;
  readonly session: Session | null;
  /** The signed decision to confirm; undefined for signing in. */
  readonly decision: string | undefined;
  /** True after signing out here: the provider must not sign in the same user by its own session. */
  readonly again: boolean;
  /** The tag of our page's language, for the provider's page (`ui_locales`). */
  readonly language: string;
}

/** The callback at the provider (OpenID Connect Core 1.0, section 3.1.2.5). */
export const CALLBACK = '/oauth/sign-in/callback';

/** The provider's page, and the cookie's value; null if there is nothing to sign in for. @throws {ProviderAwayError} */
export async function beginSignIn(context: Context, provider: Provider, request: SignInRequest) {
  const { authorizationRequest, session, again, language } = request;
  // A user of our own passwords signs in anew: the provider can't confirm for that user.
  const known = session?.user.externalId == null ? null : session;
  const pending = known && authorizationRequest && { authorizationRequest, session: known };
  const isConfirmed = provider.paymentAcr !== null && pending !== null;
  const pressed = isConfirmed ? verifyDecision(context, pending, request.decision) : null;
  const decision = pressed && request.decision ? request.decision : null;
  if (known !== null && decision === null) return null;
  const details =
    pending && pressed && decision && authorizationDetailsOf(pending.authorizationRequest, pressed, decision);
  const { secrets, location } = await leaveForProvider(
    provider,
    context.baseUrl + CALLBACK,
    ({ authorization_details_types_supported: types }) => ({
      scope: 'openid profile',
      ui_locales: language,
      ...((again || decision) && { prompt: 'login' }),
      ...(decision && { acr_values: provider.paymentAcr ?? '', max_age: '0' }),
      ...(details && [types].flat().includes(PAYMENT_DETAILS_TYPE) && { authorization_details: details }),
    }),
  );
  const query = authorizationRequest?.canonicalQuery ?? null;
  const signIn: PendingSignIn = { stage: 'pending', ...secrets, query, page: request.page, decision };
  return { location, cookie: cookieOf(context, signIn) };
}

/**
 * Completes a sign-in, or carries out the decision that the provider confirms, by its answer.
 * @param authorizationRequest of `signIn`, checked again @param url the whole callback
 * @returns `left` if the user did not sign in there; `continued` if this answer came before; for a sign-in the values of new
 * cookies, null to keep them; for a decision its outcome, or its receipt if this answer came before
 * @throws {OAuthError} for an answer that can't be trusted or used; {@link ProviderAwayError}
 */
export async function finishSignIn(
  context: Context,
  provider: Provider,
  limiter: ExchangeLimiter,
  {
    signIn,
    authorizationRequest,
    url,
  }: Pick<SignInRequest, 'authorizationRequest'> & { signIn: ProviderSignIn; url: URL },
  cookies: SentCookies,
  caller: Caller,
) {
  const { decision } = signIn;
  if (signIn.stage === 'used') {
    if ((await currentSession(context, cookies.session)) === null)
      throw refused('sign_in_lost', 'this sign-in was already completed, and its session has ended');
    if (decision === null || authorizationRequest === null) return { outcome: 'continued' } as const;
    const decided = { outcome: 'receipt', choice: 'allow', decision } as const;
    return { outcome: 'decided', request: authorizationRequest, decided } as const;
  }
  const user = lastUserDigest(context, cookies.device);
  const runLimited: RunLimited = (exchange) => limiter.run(caller, user, signIn.state, exchange);
  const claims = await redeemProviderCode(provider, signIn, url, runLimited);
  if (claims === null) return { outcome: 'left' } as const;
  if (decision) requireConfirmation(claims, provider, signIn);
  const session = await currentSession(context, cookies.session);
  const isSame = session?.user.externalId === claims.sub;
  if (!decision) {
    // Another tab may have signed in the same user: its pages stay valid.
    const opened = isSame ? null : await openProviderSession(context, provider, claims, cookies, caller);
    return { outcome: 'signed_in', opened } as const;
  }
  if (session === null || authorizationRequest === null)
    throw refused('sign_in_lost', 'the session that requested the confirmation has ended');
  if (!isSame) throw refused('sign_in_other_user', 'the sub of the answer is not that of the signed-in user');
  const pending = { authorizationRequest, session };
  const pressed = verifyDecision(context, pending, decision);
  const proof = { by: 'provider', sub: claims.sub } as const;
  const decided = pressed
    ? await writeDecision(context, pending, pressed, proof, caller)
    : ({ outcome: 'stale' } as const);
  return { outcome: 'decided', request: authorizationRequest, decided } as const;
}
