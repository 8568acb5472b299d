import { PAYMENT_CONFIRMATION_MS } from '../rules/lifetimes.ts';
import { spends } from '../rules/scope.ts';
import { sha256 } from '../secrets/digest.ts';
import { verifyPassword } from '../secrets/password.ts';
import type { Caller } from '../store/auditEvents.ts';
import { setSessionConfirmed } from '../store/paymentConfirmations.ts';
import { recordGuessing } from '../store/throttles.ts';
import type { Context } from './context.ts';
import { printDevice, readDevice } from './device.ts';
import { attemptPassword } from './passwordAttempts.ts';
import { type PendingAuthorization, paymentPasswordForm } from './pendingAuthorization.ts';
import { verifyForm } from './signedForm.ts';

/**
 * Whether the payment password has to be typed before the consent page is shown (contract 5.1): a right spends money, the
 * user has such a password, and it has not confirmed this very request just now. One confirmation is good for one
 * authorization.
 */
export function needsPaymentPassword({ authorizationRequest, session }: PendingAuthorization): boolean {
  if (!spends(authorizationRequest.rights) || session.user.paymentPasswordHash === null) return false;
  const { confirmedRequest, confirmedAt, now } = session;
  if (confirmedRequest !== sha256(authorizationRequest.canonicalQuery) || confirmedAt === null) return true;
  return now.getTime() - confirmedAt.getTime() >= PAYMENT_CONFIRMATION_MS;
}

/** What comes of a payment password. */
export type Confirmation =
  /** With the value of the new device cookie. */
  | { readonly outcome: 'confirmed'; readonly deviceCookie: string }
  | { readonly outcome: 'wrong' }
  /** The form does not fit any more. */
  | { readonly outcome: 'stale' }
  | { readonly outcome: 'wait'; readonly waitSeconds: number };

/** What the payment password's form holds, and the device cookie that an earlier confirmation gave this browser. */
export interface SentPaymentPassword {
  readonly formToken: string | undefined;
  readonly paymentPassword: string;
  readonly deviceCookie: string | undefined;
}

/**
 * Confirms a request by the payment password. Its attempts are counted apart from those at the password.
 *
 * @throws {BusyError} when too many passwords are being checked
 */
export async function confirmPayment(
  context: Context,
  pending: PendingAuthorization,
  sent: SentPaymentPassword,
  caller: Caller,
): Promise<Confirmation> {
  if (verifyForm(context, sent.formToken, paymentPasswordForm(pending)) === null) return { outcome: 'stale' };
  const { userId, paymentPasswordHash } = pending.session.user;
  const known = readDevice(context, 'payment password', userId, sent.deviceCookie);
  const device = known?.isFor(paymentPasswordHash) ? known.name : undefined;
  const guess = { guarded: 'payment password', login: userId, device } as const;
  const result = await attemptPassword(context, guess, caller, async (turn) => {
    const matches = await verifyPassword(paymentPasswordHash, sent.paymentPassword, turn);
    return matches && paymentPasswordHash !== null ? paymentPasswordHash : undefined;
  });
  if (result.outcome === 'wait') return result;
  if (result.outcome === 'wrong') {
    if (result.notable !== null) {
      await recordGuessing(context.db, result.notable, 'payment_password_guessed', userId, caller);
    }
    return { outcome: 'wrong' };
  }
  const { canonicalQuery, client } = pending.authorizationRequest;
  const confirmation = {
    sessionHash: pending.session.sessionHash,
    requestDigest: sha256(canonicalQuery),
    clientId: client.clientId,
    paymentPasswordHash: result.right,
  };
  if (!(await setSessionConfirmed(context.db, confirmation, caller))) return { outcome: 'wrong' };
  const deviceCookie = printDevice(context, 'payment password', userId, result.right, sent.deviceCookie);
  return { outcome: 'confirmed', deviceCookie };
}
