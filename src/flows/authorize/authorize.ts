import { grantState, isLive } from '../../rules/account/grantState.ts';
import { OAuthError } from '../../rules/common/error.ts';
import { type TokenLifetime, tokenLifetimeFrom } from '../../rules/common/lifetimes.ts';
import { parseAuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import type { Client } from '../../rules/request/client.ts';
import type { Parameters } from '../../rules/request/parameters.ts';
import { refuseWrongDays } from '../../rules/request/scopeRules.ts';
import { grantedRights, hasSpendingRight, type Right } from '../../rules/scope/scope.ts';
import { sha256 } from '../../secrets/digest.ts';
import { findClient } from '../../store/common/clients.ts';
import { findInstance, type Grant } from '../../store/common/grants.ts';
import { findClientAndSession } from '../../store/common/sessions.ts';
import { findSpent, type SpentByRight } from '../../store/common/spent.ts';
import type { Context } from '../common/context.ts';
import { type SentCookies, type Session, signOutToken } from '../signIn/session.ts';
import { type SignInStep, signInStep } from '../signIn/signIn.ts';
import { needsConfirmation } from './decide.ts';
import { createDecisionToken, grantIdOf, type PendingAuthorization } from './decisionForms.ts';

// The flow of an authorization (contract 1.2 and section 3):
// 1. The application posts its request, which is checked and redirected to itself as a GET: its URL is its state.
// 2. `authorize` checks it again, and chooses: sign-in (`signIn.ts`, or `providerSignIn.ts` elsewhere), which leads
//    back to the request; a notice, if the user has the maximum of instances; or the consent page.
// 3. Reject writes a row of `rejections`, Allow the grant with a code's hash (`decide.ts`). If a right spends money, the decision is
//    signed first, and shown again by a page that asks for the payment password (`confirmPayment.ts`) or leads to the provider.
// 4. The browser returns to the application: from a page of a password by a receipt, because such a page may lead to no other site.

type Checked = Pick<PendingAuthorization, 'authorizationRequest'>;
type Instance = Awaited<ReturnType<typeof findInstance>>;

/** A page between a checked request and its answer. `full` is the notice that the user has the maximum of live instances. */
type Step = SignInStep | (Checked & { readonly step: 'full' }) | ConsentStep;

export interface ConsentStep extends RequestedAccess {
  readonly step: 'consent';
  /** The token of the form with Allow and Reject. */
  readonly decisionToken: string;
  /** True if Allow leads to the confirmation first. */
  readonly needsConfirmation: boolean;
}

/** The access that a page asks the user to allow (contract 1.2), and what the user has allowed its application so far. */
export interface RequestedAccess extends Checked, TokenLifetime, Pick<Instance, 'mayHold' | 'firstSeen'> {
  readonly user: Pick<Session['user'], 'name' | 'login' | 'hasPaymentPassword'>;
  /** Of the grant; 0 for none. */
  readonly revision: number;
  /** The live authorization that Allow replaces; null for none. */
  readonly earlier:
    | (Pick<Grant, 'confirmedAt' | 'lastUsedOn'> & {
        readonly rights: readonly Right[];
        /** Undefined where payments are not counted. */
        readonly spent: SpentByRight | undefined;
      })
    | null;
  /** The rights of the application's other live connections that spend, which stay; null if too many to read. */
  readonly others: readonly (readonly Right[])[] | null;
  readonly signOutToken: string;
}

/**
 * The authorization endpoint (contract 4.1): chooses the next page (contract 1.2). Pages before a decision only lead back to the
 * request. Writes nothing. @throws {OAuthError}
 */
export async function authorize(
  context: Context,
  parameters: Parameters,
  cookies: Pick<SentCookies, 'session' | 'preLogin'>,
): Promise<Step> {
  const { authorizationRequest, pending } = await loadPending(context, parameters, cookies.session);
  if (pending === null) return signInStep(context, authorizationRequest, cookies.preLogin);
  const { client, rights } = authorizationRequest;
  noteClient(client, () => refuseWrongDays(rights, pending.session.now));
  const access = await loadRequestedAccess(context, pending);
  if (!access.mayHold) return { step: 'full', authorizationRequest };
  return {
    step: 'consent',
    decisionToken: createDecisionToken(context, pending, access.revision),
    needsConfirmation: needsConfirmation(context, pending),
    ...access,
  };
}

/**
 * Checks a request against the current registrations, again at every step: blocking the client takes effect at once.
 * @throws {OAuthError} `unauthorized_client`, `invalid_request` or `invalid_scope` (contract 7.1)
 */
export async function loadAuthorizationRequest(context: Context, parameters: Parameters) {
  // Contract 2.2: client_id comes first, since all other checks depend on the application.
  return parseRequest(context, parameters, await findClient(context.db, parameters.require('client_id')));
}

/** Like {@link loadAuthorizationRequest}. @returns `pending`: with the session of the cookie, null altogether without one */
export async function loadPending(context: Context, parameters: Parameters, cookie: string | null) {
  const clientId = parameters.require('client_id');
  const sessionHash = cookie === null ? null : sha256(cookie);
  const { client, session } = await findClientAndSession(context.db, { clientId, sessionHash });
  const authorizationRequest = parseRequest(context, parameters, client);
  return { authorizationRequest, pending: session && { authorizationRequest, session } };
}

function parseRequest(context: Context, parameters: Parameters, client: Client | null) {
  return noteClient(client, () => parseAuthorizationRequest(parameters, client, context));
}

/** Notes the application on a refusal by `check`. */
function noteClient<Result>(client: Client | null, check: () => Result): Result {
  try {
    return check();
  } catch (error) {
    throw error instanceof OAuthError && client !== null ? error.ofClient(client) : error;
  }
}

export async function loadRequestedAccess(
  context: Context,
  pending: PendingAuthorization,
): Promise<RequestedAccess> {
  const { authorizationRequest, session } = pending;
  const { clientId } = authorizationRequest.client;
  const { userId, name, login, hasPaymentPassword } = session.user;
  const instance = { grantId: grantIdOf(pending), userId, clientId, maxInstances: context.maxInstances };
  const { grant, mayHold, firstSeen, others } = await findInstance(context.db, instance);
  const earlier = grant !== null && isLive(grantState(grant, grant.now)) ? grant : null;
  const openRights = (scope: string) => grantedRights({ clientId, scope }, context.currency, session.now);
  const rights = earlier === null ? [] : openRights(earlier.scope);
  const counted = earlier !== null && context.countsPayments ? [{ ...earlier, rights }] : [];
  const [spent] = await findSpent(context.db, counted);
  return {
    authorizationRequest,
    user: { name, login, hasPaymentPassword },
    mayHold,
    revision: grant?.revision ?? 0,
    ...tokenLifetimeFrom(session.now),
    earlier: earlier && {
      confirmedAt: earlier.confirmedAt,
      lastUsedOn: earlier.lastUsedOn,
      rights,
      spent,
    },
    others: others?.map(openRights).filter(hasSpendingRight) ?? null,
    firstSeen,
    signOutToken: signOutToken(context, session),
  };
}
