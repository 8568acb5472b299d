import {
  type AuthorizationRequest,
  parseAuthorizationRequest,
  requestedClientId,
} from '../rules/authorizationRequest.ts';
import { OAuthError } from '../rules/error.ts';
import { grantState, isLive } from '../rules/grantState.ts';
import { daysUntil, tokenExpiresAt } from '../rules/lifetimes.ts';
import type { Parameters } from '../rules/parameters.ts';
import type { Right } from '../rules/scope.ts';
import { grantedRights } from '../rules/scope.ts';
import { findClient } from '../store/clients.ts';
import { findInstance, type Grant } from '../store/grants.ts';
import type { Session } from '../store/sessions.ts';
import { needsPaymentPassword, paymentPasswordForm } from './confirmPayment.ts';
import type { Context } from './context.ts';
import { decisionForm, grantIdOf, type PendingAuthorization, rejectForm } from './decisionForms.ts';
import { currentSession, signOutToken } from './session.ts';
import { signForm } from './signedForm.ts';
import { type SentCookies, type SignInStep, signInStep } from './signIn.ts';

// The flow of an authorization (contract 1.2 and section 3):
// 1. The application posts its request, which is checked and redirected to itself as a GET: its URL is its state.
// 2. `authorize` checks it again. Without a session the next page is sign-in (`signIn.ts`), which leads back to the request.
// 3. With one, `nextStep` decides: a notice, when the user has as many instances of this application as one may have;
// 4. or the payment password, when a right spends money (`confirmPayment.ts`); it leads back to the request as well. Who does
//    not want this rejects it from there without typing it, on a page of its own;
// 5. or the consent page, with a form token over what it shows.
// 6. Allow writes the grant with the hash of a code, Reject a row of `denials` (`decide.ts`); the browser goes to the application.
// 7. The application exchanges the code for a token (`exchange.ts`).

/** What a page asks the user to allow (contract 1.2). */
export interface RequestedAccess {
  readonly authorizationRequest: AuthorizationRequest;
  readonly user: Pick<Session['user'], 'name' | 'login'> & { readonly hasPaymentPassword: boolean };
  /** Until when a token that is issued now will be good. */
  readonly expiresAt: Date;
  /** How long that is, in days begun. */
  readonly daysLeft: number;
  /** The live authorization that allowing annuls; null for none. */
  readonly earlier:
    | (Pick<Grant, 'confirmedAt' | 'lastUsedOn'> & { readonly rights: readonly Right[] })
    | null;
  /**
   * The rights of all other connections of the application to this account that are live and spend; null where they are too
   * many to read. They are no part of what is decided: allowing leaves them as they are, and no decision depends on them.
   */
  readonly others: readonly (readonly Right[])[] | null;
  /** Whether the user never allowed this application anything before. */
  readonly firstSeen: boolean;
  readonly signOutToken: string;
}

/** The payment password is asked, or the request rejected without it. */
export interface PaymentPasswordStep extends RequestedAccess {
  readonly step: 'payment-password';
  readonly formToken: string;
  /** Rejects, and can't allow. */
  readonly rejectToken: string;
}

/** What stands between a checked request and its answer, with all that its page shows and the tokens of its forms. */
export type Step =
  | SignInStep
  /** The user has as many live instances of this application as one may have: another one has to go first. */
  | { readonly step: 'full'; readonly authorizationRequest: AuthorizationRequest }
  | PaymentPasswordStep
  | (RequestedAccess & { readonly step: 'consent'; readonly decisionToken: string });

/**
 * The authorization endpoint (contract 4.1): checks the request and decides which page comes next. Writes nothing.
 *
 * @param cookies of the browser: its session and, before sign-in, its pre-login session
 * @throws {OAuthError} `unauthorized_client`, `invalid_request` or `invalid_scope`
 */
export async function authorize(
  context: Context,
  parameters: Parameters,
  cookies: Pick<SentCookies, 'session' | 'preLogin'>,
): Promise<Step> {
  const [authorizationRequest, session] = await Promise.all([
    loadAuthorizationRequest(context, parameters),
    currentSession(context, cookies.session),
  ]);
  if (session === null) return signInStep(context, authorizationRequest, cookies.preLogin);
  return nextStep(context, { authorizationRequest, session });
}

/**
 * Checks an authorization request against what is registered now. Every step of the flow does it again, so that a client
 * which is blocked or changed meanwhile counts at once.
 *
 * @throws {OAuthError} `unauthorized_client`, `invalid_request` or `invalid_scope`
 */
export async function loadAuthorizationRequest(
  { db, catalogue }: Context,
  parameters: Parameters,
): Promise<AuthorizationRequest> {
  const client = await findClient(db, requestedClientId(parameters));
  try {
    return parseAuthorizationRequest(parameters, client, catalogue);
  } catch (error) {
    // Of a blocked application no more is said than of an unknown one.
    if (error instanceof OAuthError && client?.status === 'active') error.clientName = client.name;
    throw error;
  }
}

/**
 * The one function that decides which page a signed-in user sees next (contract 1.2). Pages post to their own paths and
 * lead back to the request; none of them knows what follows it.
 */
export async function nextStep(
  context: Context,
  pending: PendingAuthorization,
): Promise<Exclude<Step, SignInStep>> {
  const { authorizationRequest, session } = pending;
  const { clientId } = authorizationRequest.client;
  const {
    grant,
    mayHold,
    firstSeen,
    others: scopes,
  } = await findInstance(context.db, {
    grantId: grantIdOf(pending),
    userId: session.user.userId,
    clientId,
    maxInstances: context.maxInstances,
  });
  if (!mayHold) return { step: 'full', authorizationRequest };
  const others = scopes?.map((scope) => grantedRights({ clientId, scope })) ?? null;
  const access = { ...requestedAccess(context, pending, grant), others, firstSeen };
  if (needsPaymentPassword(pending)) {
    const formToken = signForm(context, paymentPasswordForm(pending));
    const rejectToken = signForm(context, rejectForm(pending), grant?.revision ?? 0);
    return { step: 'payment-password', ...access, formToken, rejectToken };
  }
  const decisionToken = signForm(context, decisionForm(pending), grant?.revision ?? 0);
  return { step: 'consent', ...access, decisionToken };
}

function requestedAccess(
  context: Context,
  { authorizationRequest, session }: PendingAuthorization,
  grant: Grant | null,
): Omit<RequestedAccess, 'firstSeen' | 'others'> {
  const { name, login, paymentPasswordHash } = session.user;
  const expiresAt = tokenExpiresAt(session.now);
  const earlier = grant !== null && isLive(grantState(grant, grant.now)) ? grant : null;
  return {
    authorizationRequest,
    user: { name, login, hasPaymentPassword: paymentPasswordHash !== null },
    expiresAt,
    daysLeft: daysUntil(expiresAt, session.now),
    earlier: earlier && {
      confirmedAt: earlier.confirmedAt,
      lastUsedOn: earlier.lastUsedOn,
      rights: grantedRights(earlier),
    },
    signOutToken: signOutToken(context, session),
  };
}
