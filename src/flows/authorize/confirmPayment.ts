import type { Caller } from '../../rules/common/caller.ts';
import { PAYMENT_CONFIRMATION_MS } from '../../rules/common/lifetimes.ts';
import { spends } from '../../rules/scope/scope.ts';
import { sha256 } from '../../secrets/digest.ts';
import { setSessionConfirmed } from '../../store/authorize/paymentConfirmations.ts';
import type { Context } from '../common/context.ts';
import { type Form, verifyForm } from '../common/signedForm.ts';
import { type Attempt, attemptPassword } from '../signIn/passwordAttempts.ts';
import type { PendingAuthorization } from './decisionForms.ts';

/** A right spends money, and the payment password, or the provider, hasn't just confirmed this request (contract 5.1). */
export function needsConfirmation(
  { confirmsPayments }: Context,
  { authorizationRequest, session }: PendingAuthorization,
): boolean {
  if (!spends(authorizationRequest.rights)) return false;
  if (!confirmsPayments && !session.user.hasPaymentPassword) return false;
  const { confirmedRequest, confirmedAt, now } = session;
  if (confirmedRequest !== sha256(authorizationRequest.canonicalQuery) || confirmedAt === null) return true;
  return now.getTime() - confirmedAt.getTime() >= PAYMENT_CONFIRMATION_MS;
}

export function paymentPasswordForm({ authorizationRequest, session }: PendingAuthorization): Form {
  return { action: 'payment-password', owner: session, subject: [authorizationRequest.canonicalQuery] };
}

/** @returns `stale` for an outdated form; after a confirmation the new device cookie @throws {BusyError} */
export async function confirmPayment(
  context: Context,
  pending: PendingAuthorization,
  sent: Pick<Attempt, 'password' | 'deviceCookie'> & { readonly formToken: string | undefined },
  caller: Caller,
) {
  if (verifyForm(context, sent.formToken, paymentPasswordForm(pending)) === null)
    return { outcome: 'stale' } as const;
  const { sessionHash, paymentPasswordHash, user } = pending.session;
  const attempt = { ...sent, guarded: 'payment password', login: user.userId, renews: true } as const;
  const account = { ...user, passwordHash: paymentPasswordHash };
  const result = await attemptPassword(context, attempt, caller, async () => account);
  if (result.outcome !== 'right') return result;
  const { canonicalQuery, client } = pending.authorizationRequest;
  const confirmation = { requestDigest: sha256(canonicalQuery), clientId: client.clientId };
  const proof = { sessionHash, paymentPasswordHash: result.passwordHash, externalId: null };
  const { valid } = await setSessionConfirmed(context.db, { ...confirmation, ...proof, ...caller });
  if (!valid) return { outcome: 'wrong' } as const;
  return { outcome: 'confirmed', deviceCookie: result.deviceCookie } as const;
}
