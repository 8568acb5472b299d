import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { ClientError, IDToken } from 'openid-client';
import { loginKey } from '../../rules/account/loginKey.ts';
import type { Caller } from '../../rules/common/caller.ts';
import { PROVIDER_SIGN_IN_MS } from '../../rules/common/lifetimes.ts';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { spends } from '../../rules/scope/scope.ts';
import { type Digest, s256, sha256 } from '../../secrets/digest.ts';
import { tell } from '../../signals/happenings.ts';
import { setSessionConfirmed } from '../../store/authorize/paymentConfirmations.ts';
import type { Context } from '../common/context.ts';
import { type Provider, type ProviderAnswer, ProviderAwayError, reasonOf } from '../common/provider.ts';
import { knownDevice, newDeviceCookie } from '../signIn/device.ts';
import { openSession, type SentCookies } from '../signIn/openSession.ts';
import { refused, userOf } from '../signIn/providerUser.ts';
import { currentSession, type Session } from '../signIn/session.ts';
import { needsConfirmation } from './confirmPayment.ts';

// Sign-in at an OpenID provider (OpenID Connect Core 1.0, section 3.1): code flow with PKCE, `state`, `nonce` and `iss`.
// A sign-in's secrets travel in a signed cookie; nothing is stored before the user is known.

/** A sign-in that began in this browser, as in its cookie. */
interface Begun {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly at: number;
  /** The canonical query of the request to continue; null for the account page. */
  readonly query: string | null;
  /** The session whose user confirms a payment; null if the user signs in. */
  readonly sessionHash: Digest | null;
  readonly isPayment: boolean;
}

interface Beginning {
  /** Null for the account page. */
  readonly authorizationRequest: AuthorizationRequest | null;
  readonly session: Session | null;
  /** True after signing out here: the provider must not sign in the same user by its own session. */
  readonly again: boolean;
  /** The page's, as a language tag. */
  readonly language: string;
}

/** The callback at the provider (OpenID Connect Core 1.0, section 3.1.2.5). */
export const CALLBACK = '/sign-in/callback';

/** The provider's page, and the cookie's value; null if there is nothing to sign in for. @throws {ProviderAwayError} */
export async function beginSignIn(context: Context, provider: Provider, beginning: Beginning) {
  const { authorizationRequest, session, again, language } = beginning;
  // A user of our own passwords signs in anew: the provider can't confirm for that user.
  const known = session?.user.externalId == null ? null : session;
  const needsPayment =
    provider.paymentAcr !== null &&
    authorizationRequest !== null &&
    (known === null
      ? spends(authorizationRequest.rights)
      : needsConfirmation(context, { authorizationRequest, session: known }));
  if (known !== null && !needsPayment) return null;
  const { openid, configuration } = await provider.client();
  const begun: Begun = {
    state: openid.randomState(),
    nonce: openid.randomNonce(),
    verifier: openid.randomPKCECodeVerifier(),
    at: Date.now(),
    query: authorizationRequest?.canonicalQuery ?? null,
    sessionHash: known?.sessionHash ?? null,
    isPayment: needsPayment,
  };
  const location = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: context.baseUrl + CALLBACK,
    scope: 'openid profile',
    state: begun.state,
    nonce: begun.nonce,
    code_challenge: s256(begun.verifier),
    code_challenge_method: 'S256',
    ui_locales: language,
    ...((again || needsPayment) && { prompt: 'login' }),
    ...(needsPayment && { acr_values: provider.paymentAcr ?? '', max_age: '0' }),
  });
  const payload = deflateRawSync(JSON.stringify(begun));
  return { location: location.href, cookie: context.keyRing.sign('provider', payload) };
}

/** The begun sign-in of a cookie. @throws {OAuthError} for none, or a late one */
export function begunIn({ keyRing }: Context, cookie: string | null): Begun {
  const payload = keyRing.verify('provider', cookie ?? '')?.payload;
  const begun: Begun | null = payload ? JSON.parse(inflateRawSync(payload).toString()) : null;
  if (begun !== null && Date.now() - begun.at < PROVIDER_SIGN_IN_MS) return begun;
  throw refused('sign_in_lost', 'this browser began no sign-in in the last 10 minutes, or it was answered');
}

/**
 * Completes a sign-in, or the confirmation of a payment, by the provider's answer.
 * @param authorizationRequest of `begun`, checked again @param url the whole callback
 * @returns `rejected` if the user did not sign in there; values of new cookies, null to keep them
 * @throws {OAuthError} for an answer that can't be trusted or used; {@link ProviderAwayError}
 */
export async function finishSignIn(
  context: Context,
  provider: Provider,
  { begun, authorizationRequest, url }: Pick<Beginning, 'authorizationRequest'> & { begun: Begun; url: URL },
  cookies: SentCookies,
  caller: Caller,
) {
  const claims = await claimsOf(provider, begun, url);
  if (claims === null) return { outcome: 'rejected' } as const;
  if (begun.isPayment) requireConfirmation(claims, provider, begun);
  const earlier = begun.sessionHash === null ? null : await currentSession(context, cookies.session);
  if (begun.sessionHash !== null && earlier?.sessionHash !== begun.sessionHash) throw sessionIsOver();
  if (earlier !== null && earlier.user.externalId !== claims.sub)
    throw refused('sign_in_other_user', 'another user (sub) confirmed than the one who is signed in');
  const opened = earlier === null ? await openFor(context, provider, claims, cookies, caller) : null;
  const sessionHash = opened?.sessionHash ?? earlier?.sessionHash;
  if (begun.isPayment && authorizationRequest !== null && sessionHash !== undefined)
    await confirm(context, authorizationRequest, { sessionHash, externalId: claims.sub }, caller);
  return { outcome: 'signed_in', opened } as const;
}

/** Answers that are checked at once: each takes a request to the provider. */
const MAX_AT_ONCE = 100;
let checking = 0;

async function claimsOf(provider: Provider, begun: Begun, url: URL): Promise<ProviderAnswer | null> {
  const { openid, configuration } = await provider.client();
  const { state: expectedState, nonce: expectedNonce, verifier: pkceCodeVerifier } = begun;
  const checks = { expectedState, expectedNonce, pkceCodeVerifier, idTokenExpected: true };
  if (checking >= MAX_AT_ONCE) throw new ProviderAwayError(new Error('too many sign-ins at once'));
  checking += 1;
  try {
    const tokens = await openid.authorizationCodeGrant(configuration, url, checks);
    const claims = tokens.claims();
    return claims ? { ...claims, accessToken: tokens.access_token } : null;
  } catch (error) {
    if (error instanceof openid.AuthorizationResponseError) {
      if (error.error === 'access_denied') return null;
      throw refused('sign_in_failed', `the provider answered ${wordOf(error.error)}`);
    }
    if (error instanceof openid.ResponseBodyError)
      throw refused('sign_in_failed', `the provider’s token endpoint answered ${wordOf(error.error)}`);
    if (error instanceof openid.ClientError && error.code?.startsWith('OAUTH_') && !isAway(error))
      throw refused('sign_in_failed', `the provider’s answer was refused: ${reasonOf(error)}`);
    throw new ProviderAwayError(error);
  } finally {
    checking -= 1;
  }
}

/** No answer in time, or a failure there, which are errors of the library too. */
const isAway = ({ code, cause }: ClientError) =>
  code === 'OAUTH_TIMEOUT' || (cause instanceof Response && cause.status >= 500);

const wordOf = (error: string) => /^\w{1,40}$/.exec(error)?.[0] ?? 'an error';

/** Of the clocks: the library would tolerate 30 seconds, in which an earlier sign-in could be used. */
const TOLERANCE_MS = 10_000;

/** The provider confirmed a payment now, in the required way (OpenID Connect Core 1.0, section 2: `acr`, `auth_time`). */
function requireConfirmation(claims: IDToken, { paymentAcr }: Provider, { at }: Begun): void {
  if (claims.acr !== paymentAcr)
    throw refused('sign_in_unconfirmed', 'the acr of the answer is not SIGN_IN_PAYMENT_ACR');
  const time = Number(claims.auth_time) * 1000;
  if (!(time >= at - TOLERANCE_MS && time <= Date.now() + TOLERANCE_MS))
    throw refused('sign_in_unconfirmed', 'the auth_time is missing, before the request or in the future');
}

async function openFor(
  context: Context,
  provider: Provider,
  claims: ProviderAnswer,
  cookies: SentCookies,
  caller: Caller,
) {
  const { sub: externalId } = claims;
  const { userId, login, status } = await userOf(context, provider, claims, caller);
  // The external id has the place of the password hash: a browser is known once its user has signed in at the provider.
  const key = loginKey(login);
  const device = await knownDevice(context, 'password', key, cookies.device, async () => externalId);
  const proof = { userId, passwordHash: null, externalId, knownDevice: device !== null };
  const opened = status === 'active' ? await openSession(context, proof, cookies, caller) : null;
  if (opened === null) throw refused('user_blocked', 'the user is blocked');
  tell('signIn', 'signed_in');
  return { ...opened, deviceCookie: newDeviceCookie(context, 'password', key, externalId, cookies.device) };
}

async function confirm(
  { db }: Context,
  { client, canonicalQuery }: AuthorizationRequest,
  by: { readonly sessionHash: Digest; readonly externalId: string },
  caller: Caller,
) {
  const confirmation = { requestDigest: sha256(canonicalQuery), clientId: client.clientId };
  const proof = { paymentPasswordHash: null, ...by };
  const { valid } = await setSessionConfirmed(db, { ...confirmation, ...proof, ...caller });
  if (!valid) throw sessionIsOver();
  tell('paymentConfirmation', 'confirmed');
}

const sessionIsOver = () => refused('sign_in_lost', 'the session that asked for the confirmation is over');
