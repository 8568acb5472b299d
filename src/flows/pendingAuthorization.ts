import type { AuthorizationRequest } from '../rules/authorizationRequest.ts';
import { grantIdFor } from '../secrets/grantId.ts';
import type { Session } from '../store/sessions.ts';
import type { Form } from './signedForm.ts';

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

/** The form that confirms the request by the payment password. */
export function paymentPasswordForm({ authorizationRequest, session }: PendingAuthorization): Form {
  return { action: 'payment-password', owner: session, subject: [authorizationRequest.canonicalQuery] };
}

/** The consent form: a decision on this request by this user, as the client is registered now. */
export function decisionForm(pending: PendingAuthorization): Form {
  const { authorizationRequest, session } = pending;
  const { client, canonicalQuery } = authorizationRequest;
  const subject = [session.user.userId, grantIdOf(pending), client.revision, canonicalQuery];
  return { action: 'decision', owner: session, subject };
}
