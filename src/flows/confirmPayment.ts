import type { AuthorizationRequest } from '../rules/authorizationRequest.ts';
import { PAYMENT_CONFIRMATION_MS } from '../rules/lifetimes.ts';
import { spends } from '../rules/scope.ts';
import { sha256 } from '../secrets/digest.ts';
import { verifyPassword } from '../secrets/password.ts';
import { type Session, setSessionConfirmed } from '../store/sessions.ts';
import { recordGuessing } from '../store/throttles.ts';
import type { Caller, Context } from './context.ts';
import { printDevice, readDevice } from './device.ts';
import { tryPassword } from './tryPassword.ts';

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
  return now.getTime() - confirmedAt.getTime() < PAYMENT_CONFIRMATION_MS;
}

/** What comes of a payment password. */
export type Confirmation =
  /** With the value of the new device cookie. */
  | { readonly outcome: 'confirmed'; readonly deviceCookie: string }
  | { readonly outcome: 'wrong' }
  | { readonly outcome: 'wait'; readonly waitSeconds: number };

/**
 * Confirms a request by the payment password. Its tries are counted apart from those at the password.
 *
 * @param deviceCookie the one that an earlier confirmation gave this browser
 * @throws {BusyError} when too many passwords are being checked
 */
export async function confirmPayment(
  context: Context,
  session: Session,
  request: AuthorizationRequest,
  typed: { readonly paymentPassword: string; readonly deviceCookie: string | undefined },
  caller: Caller,
): Promise<Confirmation> {
  const { db } = context;
  const { userId, paymentPasswordHash } = session.user;
  const sent = readDevice(context, 'payment password', userId, typed.deviceCookie);
  const device = sent?.isFor(paymentPasswordHash) ? sent.name : undefined;
  const guess = { guarded: 'payment password', login: userId, device } as const;
  const result = await tryPassword(context, guess, caller, async (turn) => {
    const matches = await verifyPassword(paymentPasswordHash, typed.paymentPassword, turn);
    return matches && paymentPasswordHash !== null ? paymentPasswordHash : undefined;
  });
  if (result.outcome === 'wait') return result;
  if (result.outcome === 'wrong') {
    if (result.notable !== null) {
      await recordGuessing(db, result.notable, 'payment_password_guessed', userId, caller);
    }
    return { outcome: 'wrong' };
  }
  const digest = sha256(request.canonicalQuery);
  const { sessionHash } = session;
  const { clientId } = request.client;
  if (!(await setSessionConfirmed(db, sessionHash, digest, clientId, result.right, caller)))
    return { outcome: 'wrong' };
  return {
    outcome: 'confirmed',
    deviceCookie: printDevice(context, 'payment password', userId, result.right, typed.deviceCookie),
  };
}
