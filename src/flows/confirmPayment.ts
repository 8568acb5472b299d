import type { AuthorizationRequest } from '../oauth/authorizationRequest.ts';
import { spends } from '../oauth/scope.ts';
import { sha256 } from '../secrets/digest.ts';
import { verifyPassword } from '../secrets/password.ts';
import { markSessionConfirmed, type Session } from '../store/sessions.ts';
import type { Context } from './context.ts';

/** Within it the consent page may be reloaded. A page that was shown stays good for its own time, see `decision.ts`. */
const CONFIRMATION_LIFETIME_MS = 5 * 60 * 1000;

/**
 * Whether the payment password has to be typed before this request's consent page is shown (contract 5.1): a right
 * spends money, the user has such a password, and it has not confirmed this very request just now. One
 * confirmation is good for one authorization.
 */
export function needsPaymentPassword(session: Session, request: AuthorizationRequest): boolean {
  if (!spends(request.rights) || session.user.paymentPasswordHash === null) return false;
  return !isConfirmed(session, request);
}

function isConfirmed(
  { confirmedRequest, confirmedAt, now }: Session,
  request: AuthorizationRequest,
): boolean {
  if (confirmedRequest === null || confirmedAt === null) return false;
  if (!confirmedRequest.equals(sha256(request.canonicalQuery))) return false;
  return now.getTime() - confirmedAt.getTime() < CONFIRMATION_LIFETIME_MS;
}

/**
 * Confirms a request by the payment password.
 *
 * @returns whether the password was right
 */
export async function confirmPayment(
  { db }: Context,
  session: Session,
  request: AuthorizationRequest,
  paymentPassword: string,
): Promise<boolean> {
  const { paymentPasswordHash } = session.user;
  const matches = await verifyPassword(paymentPasswordHash, paymentPassword);
  if (!matches || paymentPasswordHash === null) return false;
  return markSessionConfirmed(db, session.sessionHash, sha256(request.canonicalQuery), paymentPasswordHash);
}
