import type { Caller } from '../../rules/common/caller.ts';
import type { Right } from '../../rules/scope/scope.ts';
import { emit } from '../../signals/events.ts';
import type { Context } from '../common/context.ts';
import { type Attempt, attemptPassword, type FailedAttempt } from '../signIn/passwordAttempts.ts';
import { loadRequestedAccess, type RequestedAccess } from './authorize.ts';
import { type DecisionOutcome, needsConfirmation, writeDecision } from './decide.ts';
import { type PendingAuthorization, resolveGrantedScope, verifyDecision } from './decisionForms.ts';

/** The page that asks for the payment password or leads to the provider: the access as decided, and the decision itself. */
export type ConfirmStep = RequestedAccess & {
  /** The rights, with the limits that the user lowered. */
  readonly granted: readonly Right[];
  readonly decision: string;
};

/** The confirmation of a decision. @returns null if it is over, or the grant has changed since its page was shown */
export async function confirmStep(
  context: Context,
  pending: PendingAuthorization,
  decision?: string,
): Promise<ConfirmStep | null> {
  const pressed = verifyDecision(context, pending, decision);
  if (decision === undefined || pressed === null || !needsConfirmation(context, pending)) return null;
  const access = await loadRequestedAccess(context, pending);
  if (access.revision !== pressed.revision) return null;
  const { rights } = resolveGrantedScope(pending.authorizationRequest, pressed.lowered);
  return { ...access, granted: rights, decision };
}

/** False: the provider confirms instead, while `SIGN_IN_PAYMENT_ACR` is set. */
export function takesPassword({ provider }: Pick<Context, 'provider'>): boolean {
  return provider?.paymentAcr == null;
}

/**
 * Checks the payment password, and carries out the decision that it confirms in the same request (contract 5.1).
 * @returns `deviceCookie`: the new one after a right password @throws {OverloadedError}, {OAuthError} as `decide`
 */
export async function confirmPayment(
  context: Context,
  pending: PendingAuthorization,
  sent: Pick<Attempt, 'password' | 'deviceCookie'> & { readonly decision: string | undefined },
  caller: Caller,
): Promise<FailedAttempt | (DecisionOutcome & { readonly deviceCookie?: string })> {
  const pressed = verifyDecision(context, pending, sent.decision);
  if (pressed === null || !takesPassword(context) || !needsConfirmation(context, pending)) {
    emit('paymentConfirmation', 'stale');
    return { outcome: 'stale' };
  }
  const { user, paymentPasswordHash: passwordHash } = pending.session;
  const attempt = { ...sent, passwordKind: 'payment password', login: user.userId, renews: true } as const;
  const result = await attemptPassword(context, attempt, caller, async () => ({ ...user, passwordHash }));
  if (result.outcome !== 'right') {
    emit('paymentConfirmation', result.outcome);
    return result;
  }
  const proof = { by: 'payment_password', hash: result.passwordHash } as const;
  const decided = await writeDecision(context, pending, pressed, proof, caller);
  return { ...decided, deviceCookie: result.deviceCookie };
}
