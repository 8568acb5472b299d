import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { IDToken, ResponseBodyError } from 'openid-client';
import { loginKey } from '../../rules/account/loginKey.ts';
import type { Caller } from '../../rules/common/caller.ts';
import { OAuthError } from '../../rules/common/error.ts';
import { PROVIDER_SIGN_IN_MS } from '../../rules/common/lifetimes.ts';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { hexOf, s256, sha256 } from '../../secrets/digest.ts';
import { tell } from '../../signals/happenings.ts';
import type { Context } from '../common/context.ts';
import { type Provider, type ProviderAnswer, ProviderAwayError, reasonOf } from '../common/provider.ts';
import { knownDevice, lastUserOf, newDeviceCookie } from '../signIn/device.ts';
import { openSession, type SentCookies } from '../signIn/openSession.ts';
import { refused, userOf } from '../signIn/providerUser.ts';
import { currentSession, type Session } from '../signIn/session.ts';
import { carryOut } from './decide.ts';
import { verifyDecision } from './decisionForms.ts';
import type { ProviderTurns } from './providerTurns.ts';

// Sign-in at an OpenID provider (OpenID Connect Core 1.0, section 3.1): code flow with PKCE, `state`, `nonce` and `iss`.
// The secrets of each sign-in travel in a signed cookie of its own; nothing is stored before the user is known.

/** A sign-in that began in this browser, as in its cookie. */
export interface Begun {
  readonly state: string;
  readonly nonce: string;
  /** Empty after its code came: then it only leads back to its request. */
  readonly verifier: string;
  readonly at: number;
  /** The canonical query of the request to continue; null for the account page. */
  readonly query: string | null;
  /** The signed decision that the provider confirms; null if the user signs in. */
  readonly decision: string | null;
}

interface Beginning {
  /** Null for the account page. */
  readonly authorizationRequest: AuthorizationRequest | null;
  readonly session: Session | null;
  /** The signed decision to confirm; undefined for signing in. */
  readonly decision: string | undefined;
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
  const pending = known && authorizationRequest && { authorizationRequest, session: known };
  const isConfirmed = provider.paymentAcr !== null && pending !== null;
  const pressed = isConfirmed ? verifyDecision(context, pending, beginning.decision, 'allow') : null;
  const decision = pressed && beginning.decision ? beginning.decision : null;
  if (known !== null && decision === null) return null;
  const { openid, configuration } = await provider.client();
  const begun: Begun = {
    state: openid.randomState(),
    nonce: openid.randomNonce(),
    verifier: openid.randomPKCECodeVerifier(),
    at: Date.now(),
    query: authorizationRequest?.canonicalQuery ?? null,
    decision,
  };
  const location = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: context.baseUrl + CALLBACK,
    scope: 'openid profile',
    state: begun.state,
    nonce: begun.nonce,
    code_challenge: s256(begun.verifier),
    code_challenge_method: 'S256',
    ui_locales: language,
    ...((again || decision) && { prompt: 'login' }),
    ...(decision && { acr_values: provider.paymentAcr ?? '', max_age: '0' }),
  });
  return { location: location.href, cookie: cookieOf(context, begun) };
}

/** A sign-in's cookie: its name and its value. */
export function cookieOf({ keyRing }: Context, begun: Begun): [name: string, value: string] {
  return [nameOf(begun.state), keyRing.sign('provider', deflateRawSync(JSON.stringify(begun)))];
}

export const nameOf = (state: string): string => hexOf(sha256(state)).slice(0, 16);

/** The sign-in with this state. @param cookie null if the browser sent none at all @throws {OAuthError} for none, or a late one */
export function begunIn({ keyRing }: Context, state: string, cookie: string | null): Begun {
  const payload = keyRing.verify('provider', cookie ?? '')?.payload;
  const begun: Begun | null = payload ? JSON.parse(inflateRawSync(payload).toString()) : null;
  if (begun?.state === state && Date.now() - begun.at < PROVIDER_SIGN_IN_MS) return begun;
  const ruleId = cookie === null ? 'sign_in_no_cookies' : 'sign_in_lost';
  throw refused(ruleId, 'this browser has no pending sign-in with this state from the last 10 minutes');
}

/**
 * Completes a sign-in, or carries out the decision that the provider confirms, by its answer.
 * @param authorizationRequest of `begun`, checked again @param url the whole callback
 * @returns `left` if the user did not sign in there; `continued` if this answer came before; for a sign-in the values of new
 * cookies, null to keep them; for a decision its outcome
 * @throws {OAuthError} for an answer that can't be trusted or used; {@link ProviderAwayError}
 */
export async function finishSignIn(
  context: Context,
  provider: Provider,
  turns: ProviderTurns,
  { begun, authorizationRequest, url }: Pick<Beginning, 'authorizationRequest'> & { begun: Begun; url: URL },
  cookies: SentCookies,
  caller: Caller,
) {
  if (begun.verifier === '' && (await currentSession(context, cookies.session)) !== null)
    return { outcome: 'continued' } as const;
  if (begun.verifier === '')
    throw refused('sign_in_lost', 'this sign-in was already completed, and its session has ended');
  const user = lastUserOf(context, cookies.device);
  const inTurn: InTurn = (exchange) => turns.take(caller, user, begun.state, exchange);
  const claims = await claimsOf(provider, begun, url, inTurn);
  if (claims === null) return { outcome: 'left' } as const;
  if (begun.decision) requireConfirmation(claims, provider, begun);
  const session = await currentSession(context, cookies.session);
  const isSame = session?.user.externalId === claims.sub;
  if (!begun.decision) {
    // Another tab may have signed in the same user: its pages stay valid.
    const opened = isSame ? null : await openFor(context, provider, claims, cookies, caller);
    return { outcome: 'signed_in', opened } as const;
  }
  const pending = session && authorizationRequest && { authorizationRequest, session };
  const pressed = pending && verifyDecision(context, pending, begun.decision, 'allow');
  if (pending === null || pressed === null)
    throw refused('sign_in_lost', 'the session that requested the confirmation has ended');
  if (!isSame) throw refused('sign_in_other_user', 'the sub of the answer is not the signed-in user');
  const proof = { paymentPasswordHash: null, externalId: claims.sub };
  return { outcome: 'decided', decided: await carryOut(context, pending, pressed, proof, caller) } as const;
}

type InTurn = <Result>(exchange: () => Promise<Result>) => Promise<Result>;

async function claimsOf(provider: Provider, begun: Begun, url: URL, inTurn: InTurn) {
  const { openid, configuration } = await provider.client();
  const { state: expectedState, nonce: expectedNonce, verifier: pkceCodeVerifier } = begun;
  const checks = { expectedState, expectedNonce, pkceCodeVerifier, idTokenExpected: true };
  const exchange = () => openid.authorizationCodeGrant(configuration, url, checks);
  try {
    const tokens = await (url.searchParams.get('error') ? exchange() : inTurn(exchange));
    const claims = tokens.claims();
    return claims ? { ...claims, accessToken: tokens.access_token } : null;
  } catch (error) {
    if (error instanceof openid.AuthorizationResponseError && error.error === 'access_denied') return null;
    throw failureOf(error);
  }
}

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
  const said = word ? `token endpoint answered ${wordOf(word)}` : `answer was refused: ${reasonOf(error)}`;
  return refused('sign_in_failed', `the provider’s ${said}`);
}

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
