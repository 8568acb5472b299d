import type { AuthorizationRequest } from '../rules/authorizationRequest.ts';
import { grantState, isLive } from '../rules/grantState.ts';
import { findInstance } from '../store/grants.ts';
import type { Session } from '../store/sessions.ts';
import { needsPaymentPassword } from './confirmPayment.ts';
import type { Context, Grant } from './context.ts';
import { grantIdOf } from './decision.ts';

/** What stands between a checked request and its answer. */
export type Step =
  | { readonly step: 'sign-in' }
  /** The user has as many live instances of this application as one may have: another one has to go first. */
  | { readonly step: 'full'; readonly session: Session }
  | { readonly step: 'payment-password'; readonly session: Session; readonly earlier: Grant | undefined }
  | {
      readonly step: 'consent';
      readonly session: Session;
      /** The live authorization that confirming annuls. */
      readonly earlier: Grant | undefined;
      /** The revision of the grant as it is now; 0 when there is none. */
      readonly revision: number;
    };

/**
 * The one function that decides which page comes next (contract 1.2). Pages post to their own paths and are
 * sent back to the request; none of them knows what follows it.
 */
export async function nextStep(
  { db, maxInstances }: Context,
  request: AuthorizationRequest,
  session: Session | undefined,
): Promise<Step> {
  if (session === undefined) return { step: 'sign-in' };
  const { userId } = session.user;
  const { clientId } = request.client;
  const instance = { grantId: grantIdOf(session, request), userId, clientId, most: maxInstances };
  const { grant, mayHold } = await findInstance(db, instance);
  if (!mayHold) return { step: 'full', session };
  const earlier = grant && isLive(grantState(grant, grant.now)) ? grant : undefined;
  if (needsPaymentPassword(session, request)) return { step: 'payment-password', session, earlier };
  return { step: 'consent', session, earlier, revision: grant?.revision ?? 0 };
}
