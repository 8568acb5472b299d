import type { Caller } from '../../rules/common/caller.ts';
import { PAYMENT_CONFIRMATION_MS } from '../../rules/common/lifetimes.ts';
import { spends } from '../../rules/scope/scope.ts';
import { sha256 } from '../../secrets/digest.ts';
import { telling } from '../../signals/happenings.ts';
import { setSessionConfirmed } from '../../store/authorize/paymentConfirmations.ts';
import type { Context } from '../common/context.ts';
import { type Form, verifyForm } from '../common/signedForm.ts';
import { type Attempt, attemptPassword } from '../signIn/passwordAttempts.ts';
import type { PendingAuthorization } from './decisionForms.ts';

/**
 * True while the payment password has to be typed before the consent page (contract 5.1): a right spends money, the user has
 * one, and it has not confirmed this very request just now. A confirmation is good for one authorization.
 */
export function needsPaymentPassword({ authorizationRequest, session }: PendingAuthorization): boolean {
  if (!spends(authorizationRequest.rights) || !session.user.hasPaymentPassword) return false;
  const { confirmedRequest, confirmedAt, now } = session;
  if (confirmedRequest !== sha256(authorizationRequest.canonicalQuery) || confirmedAt === null) return true;
  return now.getTime() - confirmedAt.getTime() >= PAYMENT_CONFIRMATION_MS;
}

/** The form that confirms the request by the payment password. */
export function paymentPasswordForm({ authorizationRequest, session }: PendingAuthorization): Form {
  return { action: 'payment-password', owner: session, subject: [authorizationRequest.canonicalQuery] };
}

/**
 * Confirms a request by the payment password. Its attempts are counted apart from those at the password.
 *
 * @param sent the form, and the device cookie that an earlier confirmation gave this browser
 * @returns `stale` when the form does not fit any more; after a confirmation the new device cookie
 * @throws {BusyError} when too many passwords are being checked
 */
export const confirmPayment = telling(
  'paymentConfirmation',
  async (
    context: Context,
    pending: PendingAuthorization,
    sent: Pick<Attempt, 'password' | 'deviceCookie'> & { readonly formToken: string | undefined },
    caller: Caller,
  ) => {
    if (verifyForm(context, sent.formToken, paymentPasswordForm(pending)) === null)
      return { outcome: 'stale' } as const;
    const { sessionHash, paymentPasswordHash: passwordHash, user } = pending.session;
    const { userId, status } = user;
    const { password, deviceCookie } = sent;
    const attempt = { guarded: 'payment password', login: userId, password, deviceCookie } as const;
    const account = { userId, status, passwordHash };
    const result = await attemptPassword(context, attempt, caller, async () => account);
    if (result.outcome !== 'right') return result;
    const { canonicalQuery, client } = pending.authorizationRequest;
    const confirmation = {
      sessionHash,
      requestDigest: sha256(canonicalQuery),
      clientId: client.clientId,
      paymentPasswordHash: result.passwordHash,
    };
    const { valid } = await setSessionConfirmed(context.db, { ...confirmation, ...caller });
    if (!valid) return { outcome: 'wrong' } as const;
    return { outcome: 'confirmed', deviceCookie: result.deviceCookie } as const;
  },
);
