import type { AuthorizationRequest } from '../oauth/authorizationRequest.ts';
import { spends } from '../oauth/scope.ts';
import { sha256 } from '../secrets/digest.ts';
import { verifyPassword } from '../secrets/password.ts';
import { markSessionConfirmed, type Session } from '../store/sessions.ts';
import type { Caller, Context } from './context.ts';
import { forgive } from './throttle.ts';

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
  if (confirmedRequest !== sha256(request.canonicalQuery)) return false;
  return now.getTime() - confirmedAt.getTime() < CONFIRMATION_LIFETIME_MS;
}

/** What comes of a payment password. */
export type Confirmation =
  | { readonly outcome: 'confirmed' }
  | { readonly outcome: 'wrong' }
  | { readonly outcome: 'wait'; readonly waitSeconds: number };

/**
 * Confirms a request by the payment password. Its tries are counted apart from those at the password.
 *
 * @throws {BusyError} when too many passwords are being checked
 */
export async function confirmPayment(
  context: Context,
  session: Session,
  request: AuthorizationRequest,
  paymentPassword: string,
  caller: Caller,
): Promise<Confirmation> {
  const login = session.user.userId;
  const attempt = await context.takeTry({ guarded: 'payment password', login, address: caller.address });
  if (!('keys' in attempt)) return { outcome: 'wait', waitSeconds: attempt.waitSeconds };
  const { paymentPasswordHash } = session.user;
  const matches = await verifyPassword(paymentPasswordHash, paymentPassword);
  if (!matches || paymentPasswordHash === null) return { outcome: 'wrong' };
  await forgive(context, attempt.keys);
  const confirmed = await markSessionConfirmed(
    context.db,
    session.sessionHash,
    sha256(request.canonicalQuery),
    paymentPasswordHash,
    caller.decideBy,
  );
  return { outcome: confirmed ? 'confirmed' : 'wrong' };
}
