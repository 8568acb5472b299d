import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { grantIdFor } from '../../secrets/grantId.ts';
import type { Session } from '../../store/common/sessions.ts';
import type { Context } from '../common/context.ts';
import { contentOf, type Form, type SignedForm, verifyForm } from '../common/signedForm.ts';

/** A checked request without the signed-in user's answer. */
export interface PendingAuthorization {
  readonly authorizationRequest: AuthorizationRequest;
  readonly session: Session;
}

export interface SentDecision {
  readonly choice: 'allow' | 'reject';
  readonly decisionToken: string | undefined;
  /** The fields of the limits, by the index of their rights in the scope. */
  readonly typedSums: ReadonlyMap<number, string>;
}

/** The only grant of this user to this application instance. */
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

/** The form that can only reject: shown before the payment password is typed, so its token must never allow. */
export function rejectForm(pending: PendingAuthorization): Form {
  return { ...decisionForm(pending), action: 'reject' };
}

/** Verifies a decision's token, null if invalid. One for rejecting counts as the consent page's: it finds an earlier Allow. */
export function verifyDecision(
  context: Context,
  { choice, decisionToken }: SentDecision,
  pending: PendingAuthorization,
): SignedForm | null {
  const decision = decisionForm(pending);
  const form = verifyForm(context, decisionToken, decision);
  if (form !== null || choice === 'allow') return form;
  const rejection = verifyForm(context, decisionToken, rejectForm(pending));
  return rejection && { ...rejection, content: contentOf(decision, rejection.revision) };
}
