import type { AuthorizationRequest } from '../rules/authorizationRequest.ts';
import { answerLocation } from '../rules/redirectUri.ts';
import { limitsAmong, rightData } from '../rules/rightData.ts';
import { sha256 } from '../secrets/digest.ts';
import { denyGrant } from '../store/denials.ts';
import type { Session } from '../store/sessions.ts';
import type { Caller, Context } from './context.ts';
import { readDecision, type Undecided } from './decision.ts';

/** What comes of pressing Reject. */
export type DenialOutcome =
  | { readonly outcome: 'denied'; readonly location: string }
  | Undecided
  /** Allow on this very page was taken already: refusing now would only look as if it undid that. */
  | { readonly outcome: 'too-late' };

/**
 * The user rejects the request (contract section 3, second row): no code, `access_denied`, and what was
 * allowed earlier stays as it is.
 */
export async function deny(
  context: Context,
  session: Session,
  request: AuthorizationRequest,
  decisionToken: string | undefined,
  caller: Caller,
): Promise<DenialOutcome> {
  const decision = readDecision(context, decisionToken, session, request);
  if (decision === undefined) return { outcome: 'stale' };
  const verdict = await denyGrant(context.db, {
    grantId: decision.grantId,
    userId: session.user.userId,
    clientId: request.client.clientId,
    instanceName: request.instanceName,
    codeHash: sha256(decision.code),
    scope: request.scope,
    limits: limitsAmong(rightData(request.rights, context.currency)),
    sessionHash: session.sessionHash,
    formExpiresAt: decision.expiresAt,
    caller,
  });
  if (verdict === 'denied') {
    return { outcome: 'denied', location: answerLocation(request, 'error', 'access_denied') };
  }
  if (verdict === 'allowed') return { outcome: 'too-late' };
  return { outcome: verdict === 'ended' ? 'stale' : verdict };
}
