import type { Caller } from '../rules/caller.ts';
import { PAYMENT_CONFIRMATION_MS } from '../rules/lifetimes.ts';
import { spends } from '../rules/scope.ts';
import { sha256 } from '../secrets/digest.ts';
import { telling } from '../signals/happenings.ts';
import { setSessionConfirmed } from '../store/paymentConfirmations.ts';
import type { Context } from './context.ts';
import type { PendingAuthorization } from './decisionForms.ts';
import { attemptPassword, type FailedAttempt } from './passwordAttempts.ts';
import { type Form, verifyForm } from './signedForm.ts';

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

/** The form that confirms the request by the payment password. */
export function paymentPasswordForm({ authorizationRequest, session }: PendingAuthorization): Form {
  return { action: 'payment-password', owner: session, subject: [authorizationRequest.canonicalQuery] };
}

/** What comes of a payment password. */
export type Confirmation =
  /** With the value of the new device cookie. */
  | { readonly outcome: 'confirmed'; readonly deviceCookie: string }
  /** The form does not fit any more. */
  | { readonly outcome: 'stale' }
  | FailedAttempt;

/** What the payment password's form holds, and the device cookie that an earlier confirmation gave this browser. */
export interface SentPaymentPassword {
  readonly formToken: string | undefined;
  readonly paymentPassword: string;
  readonly deviceCookie: string | null;
}

/**
 * Confirms a request by the payment password. Its attempts are counted apart from those at the password.
 *
 * @throws {BusyError} when too many passwords are being checked
 */
export function confirmPayment(
  context: Context,
  pending: PendingAuthorization,
  sent: SentPaymentPassword,
  caller: Caller,
): Promise<Confirmation> {
  return telling('paymentConfirmation', attemptConfirmation(context, pending, sent, caller));
}

async function attemptConfirmation(
  context: Context,
  pending: PendingAuthorization,
  sent: SentPaymentPassword,
  caller: Caller,
): Promise<Confirmation> {
  if (verifyForm(context, sent.formToken, paymentPasswordForm(pending)) === null) return { outcome: 'stale' };
  const { userId, status, paymentPasswordHash } = pending.session.user;
  const { paymentPassword: password, deviceCookie } = sent;
  const attempt = { guarded: 'payment password', login: userId, password, deviceCookie } as const;
  const account = { userId, status, passwordHash: paymentPasswordHash };
  const result = await attemptPassword(context, attempt, caller, async () => account);
  if (result.outcome !== 'right') return result;
  const { canonicalQuery, client } = pending.authorizationRequest;
  const confirmation = {
    sessionHash: pending.session.sessionHash,
    requestDigest: sha256(canonicalQuery),
    clientId: client.clientId,
    paymentPasswordHash: result.passwordHash,
  };
  const isConfirmed = await setSessionConfirmed(context.db, confirmation, caller);
  return isConfirmed ? { outcome: 'confirmed', deviceCookie: result.deviceCookie } : { outcome: 'wrong' };
}
