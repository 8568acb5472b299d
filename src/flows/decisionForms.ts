import type { AuthorizationRequest } from '../rules/authorizationRequest.ts';
import { grantIdFor } from '../secrets/grantId.ts';
import type { Session } from '../store/sessions.ts';
import type { Context } from './context.ts';
import { contentOf, type Form, type SignedForm, verifyForm } from './signedForm.ts';

/** A checked request and the signed-in user who has not answered it yet. */
export interface PendingAuthorization {
  readonly authorizationRequest: AuthorizationRequest;
  readonly session: Session;
}

/** The one grant that this user can give this application instance. */
export function grantIdOf({ authorizationRequest, session }: PendingAuthorization): string {
  const { client, instanceName } = authorizationRequest;
  return grantIdFor(session.user.userId, client.clientId, instanceName);
}

/** The consent form: a decision on this request by this user, as the client is registered now. */
export function decisionForm(pending: PendingAuthorization): Form {
  const { authorizationRequest, session } = pending;
  const { client, canonicalQuery } = authorizationRequest;
  const subject = [session.user.userId, grantIdOf(pending), client.revision, canonicalQuery];
  return { action: 'decision', owner: session, subject };
}

/** The form that can only reject: shown before the payment password is typed, so its token must never allow anything. */
export function rejectForm(pending: PendingAuthorization): Form {
  return { ...decisionForm(pending), action: 'reject' };
}

/**
 * A decision is good for both answers, a rejection for its own. It counts as one on the consent page of the same grant, so
 * that it finds out where Allow was taken there meanwhile.
 *
 * @returns null for a form that does not fit
 */
export function verifyDecision(
  context: Context,
  {
    choice,
    decisionToken,
  }: { readonly choice: 'allow' | 'reject'; readonly decisionToken: string | undefined },
  pending: PendingAuthorization,
): SignedForm | null {
  const decision = decisionForm(pending);
  const form = verifyForm(context, decisionToken, decision);
  if (form !== null || choice === 'allow') return form;
  const rejection = verifyForm(context, decisionToken, rejectForm(pending));
  return rejection && { ...rejection, content: contentOf(decision, rejection.revision) };
}
