import type { AuthorizationRequest } from '../oauth/authorizationRequest.ts';
import { OAuthError } from '../oauth/error.ts';
import { appendToRedirectUri } from '../oauth/redirectUri.ts';
import { sha256 } from '../secrets/digest.ts';
import { type Approval, approveGrant, findStanding } from '../store/grants.ts';
import type { Session } from '../store/sessions.ts';
import type { Context } from './context.ts';
import { type Decision, readDecision } from './decision.ts';

/** What comes of pressing Allow. */
export type ApprovalOutcome =
  | { readonly outcome: 'allowed'; readonly location: string }
  /** The form doesn't fit any more; nothing was written, the request is to be shown afresh. */
  | { readonly outcome: 'stale' }
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
): Promise<ApprovalOutcome> {
  const decision = readDecision(context, decisionToken, session, request);
  if (decision === undefined) return { outcome: 'stale' };
  const approval = approvalOf(context, session, request, decision);
  const { written, allowed } = await approveGrant(context.db, approval);
  if (written) return { outcome: 'allowed', location: locationWithCode(request, decision.code) };
  if (!allowed) throw refused();
  const { same, usable } = await findStanding(context.db, approval.grantId, approval.codeHash);
  if (!same) return { outcome: 'stale' };
  return usable
    ? { outcome: 'allowed', location: locationWithCode(request, decision.code) }
    : { outcome: 'spent' };
}

function approvalOf(
  context: Context,
  session: Session,
  request: AuthorizationRequest,
  decision: Decision,
): Approval {
  return {
    grantId: decision.grantId,
    userId: session.user.userId,
    clientId: request.client.clientId,
    instanceName: request.instanceName,
    revision: decision.revision,
    scope: request.scope,
    redirectUri: request.redirectUri,
    codeHash: sha256(decision.code),
    codeLifetimeSeconds: context.codeLifetimeSeconds,
    codeChallenge: request.codeChallenge,
    sessionHash: session.sessionHash,
  };
}

function refused(): OAuthError {
  return new OAuthError(
    'unauthorized_client',
    'This authorization is not possible any more.',
    'client or user was blocked',
  );
}

/** `state` goes first: applications exist that cut off whatever follows `code`. */
function locationWithCode({ redirectUri, state }: AuthorizationRequest, code: string): string {
  return appendToRedirectUri(redirectUri, [
    ...(state === null ? [] : [['state', state] as const]),
    ['code', code],
  ]);
}
