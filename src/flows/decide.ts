import { OAuthError } from '../rules/error.ts';
import { answerLocation } from '../rules/redirectUri.ts';
import { limitsAmong, rightData } from '../rules/rightData.ts';
import { sha256 } from '../secrets/digest.ts';
import { formatToken } from '../secrets/tokens.ts';
import { type Approval, approveGrant } from '../store/approvals.ts';
import type { Caller } from '../store/auditEvents.ts';
import { type Denial, denyGrant } from '../store/denials.ts';
import type { Context } from './context.ts';
import { decisionForm, grantIdOf, type PendingAuthorization } from './pendingAuthorization.ts';
import { type SignedForm, verifyForm } from './signedForm.ts';

/** What comes of pressing Allow or Reject. */
export type DecisionOutcome =
  /** The browser goes back to the application, with a code or with `access_denied`. */
  | { readonly outcome: 'answered'; readonly location: string }
  /** The form does not fit any more, or the session is over: the request is to be shown afresh. */
  | { readonly outcome: 'stale' }
  | { readonly outcome: 'not-decided'; readonly reason: NotDecided };

/** Why nothing was decided although the form is good. */
export type NotDecided =
  /** The user has decided more than anybody reads in that time. */
  | 'too_many'
  /** The user has as many live instances of this application as one may have. */
  | 'full'
  /** Allow was taken from this very page before, and its code is used or too old. */
  | 'spent'
  /** Allow was taken from this very page before: rejecting now would only look as if it undid that. */
  | 'allowed';

/**
 * The user decides on a request, on exactly what the consent page showed (contract section 3, first two rows). Allowing
 * writes the grant, which annuls an earlier one; rejecting leaves that as it is.
 *
 * Pressing twice is one decision: the code is computed from it, so the second press finds its own code in the row.
 *
 * @throws {OAuthError} `unauthorized_client` when the client or the user was blocked at the last moment
 */
export async function decide(
  context: Context,
  pending: PendingAuthorization,
  sent: { readonly choice: 'allow' | 'reject'; readonly token: string | undefined },
  caller: Caller,
): Promise<DecisionOutcome> {
  const form = verifyForm(context, sent.token, decisionForm(pending));
  if (form === null) return { outcome: 'stale' };
  const { authorizationRequest } = pending;
  const code = codeOf(context, pending, form);
  const decision = decisionOf(context, pending, form, code, caller);
  const verdict = await (sent.choice === 'allow' ? approveGrant : denyGrant)(context.db, decision);
  switch (verdict) {
    case 'written':
      return { outcome: 'answered', location: answerLocation(authorizationRequest, 'code', code) };
    case 'denied':
      return {
        outcome: 'answered',
        location: answerLocation(authorizationRequest, 'error', 'access_denied'),
      };
    case 'blocked':
      throw new OAuthError(
        'unauthorized_client',
        'This authorization is not possible any more.',
        'the client or the user was blocked',
      );
    case 'ended':
    case 'stale':
      return { outcome: 'stale' };
    default:
      return { outcome: 'not-decided', reason: verdict };
  }
}

/** The code that allowing gives. It depends on all that was decided, so that no two decisions share one. */
function codeOf({ keyRing }: Context, pending: PendingAuthorization, { keyId, content }: SignedForm): string {
  const secret = keyRing.codeSecret(keyId, Buffer.from(content + pending.authorizationRequest.scope));
  return formatToken('code', grantIdOf(pending), secret);
}

/** What is written of a decision, whichever it is. */
function decisionOf(
  context: Context,
  pending: PendingAuthorization,
  { revision, expiresAt }: SignedForm,
  code: string,
  caller: Caller,
): Approval & Denial {
  const { authorizationRequest, session } = pending;
  const { client, rights, canonicalQuery } = authorizationRequest;
  return {
    grantId: grantIdOf(pending),
    userId: session.user.userId,
    clientId: client.clientId,
    clientRevision: client.revision,
    instanceName: authorizationRequest.instanceName,
    revision,
    scope: authorizationRequest.scope,
    limits: limitsAmong(rightData(rights, context.currency)),
    redirectUri: authorizationRequest.redirectUri,
    codeHash: sha256(code),
    codeLifetimeSeconds: context.codeLifetimeSeconds,
    codeChallenge: authorizationRequest.codeChallenge,
    sessionHash: session.sessionHash,
    requestDigest: sha256(canonicalQuery),
    mostInstances: context.maxInstances,
    formExpiresAt: expiresAt,
    caller,
  };
}
