import type { AuthorizationRequest } from '../rules/authorizationRequest.ts';
import { OAuthError } from '../rules/error.ts';
import { answerLocation } from '../rules/redirectUri.ts';
import { limitsAmong, rightData } from '../rules/rightData.ts';
import { sha256 } from '../secrets/digest.ts';
import { type Approval, approveGrant } from '../store/approvals.ts';
import type { Session } from '../store/sessions.ts';
import type { Caller, Context } from './context.ts';
import { type Decision, readDecision, type Undecided } from './decision.ts';

/** What comes of pressing Allow. */
export type ApprovalOutcome =
  | { readonly outcome: 'allowed'; readonly location: string }
  /** The user has as many live instances of this application as one may have. */
  | { readonly outcome: 'full' }
  | Undecided
  /** This very page was allowed before, and its code is used or too old. */
  | { readonly outcome: 'spent' };

/**
 * The user allows the request (contract section 3, first row): the grant is written, which annuls an
 * earlier one, and the browser goes back with a code.
 *
 * Pressing twice is one decision: the code comes from the decision itself, so the second press finds its own
 * code in the row and gets the same answer.
 *
 * @throws {OAuthError} `unauthorized_client` when the client or the user was blocked at the last moment
 */
export async function approve(
  context: Context,
  session: Session,
  request: AuthorizationRequest,
  decisionToken: string | undefined,
  caller: Caller,
): Promise<ApprovalOutcome> {
  const decision = readDecision(context, decisionToken, session, request);
  if (decision === undefined) return { outcome: 'stale' };
  const approval = approvalOf(context, session, request, decision, caller);
  const allowed: ApprovalOutcome = {
    outcome: 'allowed',
    location: answerLocation(request, 'code', decision.code),
  };
  const verdict = await approveGrant(context.db, approval);
  if (verdict === 'written') return allowed;
  if (verdict === 'blocked') throw refused();
  if (verdict === 'ended') return { outcome: 'stale' };
  return { outcome: verdict };
}

function refused(): OAuthError {
  const message = 'This authorization is not possible any more.';
  return new OAuthError('unauthorized_client', message, 'the client or the user was blocked');
}

function approvalOf(
  context: Context,
  session: Session,
  request: AuthorizationRequest,
  decision: Decision,
  caller: Caller,
): Approval {
  return {
    grantId: decision.grantId,
    userId: session.user.userId,
    clientId: request.client.clientId,
    clientRevision: request.client.revision,
    instanceName: request.instanceName,
    revision: decision.revision,
    scope: request.scope,
    limits: limitsAmong(rightData(request.rights, context.currency)),
    redirectUri: request.redirectUri,
    codeHash: sha256(decision.code),
    codeLifetimeSeconds: context.codeLifetimeSeconds,
    codeChallenge: request.codeChallenge,
    sessionHash: session.sessionHash,
    requestDigest: sha256(request.canonicalQuery),
    mostInstances: context.maxInstances,
    caller,
  };
}
