import type { Caller } from '../../rules/common/caller.ts';
import { OAuthError } from '../../rules/common/error.ts';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { answerLocation } from '../../rules/request/redirectUri.ts';
import { formatScope } from '../../rules/scope/formatScope.ts';
import { limitsAmong, rightData } from '../../rules/scope/rightData.ts';
import { type LoweringProblem, lowerableLimits, lowerLimits } from '../../rules/spending/lowering.ts';
import { type Digest, sha256 } from '../../secrets/digest.ts';
import { formatToken, userSlotOf } from '../../secrets/tokens.ts';
import { type Approval, approveGrant } from '../../store/authorize/approvals.ts';
import { type Rejection, rejectGrant } from '../../store/authorize/rejections.ts';
import type { Context } from '../common/context.ts';
import type { SignedForm } from '../common/signedForm.ts';
import { grantIdOf, type PendingAuthorization, type SentDecision, verifyDecision } from './decisionForms.ts';

const NOT_POSSIBLE = 'This authorization is not possible any more.';

export type DecisionOutcome =
  /** The browser returns to the application, with a code or with `access_denied`. */
  | { readonly outcome: 'answered'; readonly location: string }
  /** Invalid sums, by the index of their rights. Nothing was decided. */
  | { readonly outcome: 'wrong_limits'; readonly problems: ReadonlyMap<number, LoweringProblem> }
  /**
   * Nothing was decided. `stale`: the form or session is over; `too_many`: faster than a person can read; `full`: the maximum of
   * live instances; `spent`: this page was allowed, its code used or expired; `allowed`: the same, and Reject can't undo it.
   */
  | { readonly outcome: 'stale' | 'too_many' | 'full' | 'spent' | 'allowed' };

/** The limits that this request's users may lower: their fields are part of its consent form. */
export function limitsToLower({ client, rights }: AuthorizationRequest) {
  return client.userLimits ? lowerableLimits(rights) : [];
}

/**
 * Decides on the contents of the consent page (contract section 3): Allow replaces an earlier grant, Reject leaves it.
 * Pressing twice is one decision: the code is computed from it, so the second press finds its own code in the row.
 * @throws {OAuthError} `unauthorized_client` if the client or the user was blocked at the last moment
 */
export async function decide(
  context: Context,
  pending: PendingAuthorization,
  sent: SentDecision,
  caller: Caller,
): Promise<DecisionOutcome> {
  const { authorizationRequest } = pending;
  const form = verifyDecision(context, sent, pending);
  const limits = sent.choice === 'allow' ? limitsToLower(authorizationRequest) : [];
  // A form without a field of its page is stale, too.
  if (form === null || !limits.every(({ index }) => sent.typedSums.has(index))) return { outcome: 'stale' };
  const typed = new Map(limits.map(({ index }) => [index, sent.typedSums.get(index) ?? '']));
  const lowering = lowerLimits(authorizationRequest.rights, typed);
  if (lowering.problems !== null) return { outcome: 'wrong_limits', problems: lowering.problems };
  const code = codeOf(context, pending, form);
  const decision = decisionOf(context, pending, form, lowering, sha256(code), caller);
  const verdict = await (sent.choice === 'allow' ? approveGrant : rejectGrant)(context.db, decision);
  const answer = (name: 'code' | 'error', value: string) =>
    ({ outcome: 'answered', location: answerLocation(authorizationRequest, name, value) }) as const;
  switch (verdict) {
    case 'written':
      return answer('code', code);
    case 'rejected':
      return answer('error', 'access_denied');
    case 'blocked':
      throw new OAuthError('unauthorized_client', 'client_or_user_blocked', NOT_POSSIBLE, {
        rule: 'the client or the user was blocked',
      });
    case 'ended':
      return { outcome: 'stale' };
    default:
      return { outcome: verdict };
  }
}

/** One code per form and revision, for any typed sums: a second press finds the Allow by it. */
function codeOf({ keyRing }: Context, pending: PendingAuthorization, { keyId, content }: SignedForm): string {
  const secret = keyRing.codeSecret(keyId, Buffer.from(content + pending.authorizationRequest.scope));
  const userSlot = userSlotOf(pending.session.user.userId);
  return formatToken('code', { grantId: grantIdOf(pending), userSlot }, secret);
}

function decisionOf(
  { codeLifetimeSeconds, maxInstances, confirmsPayments }: Context,
  pending: PendingAuthorization,
  { revision, expiresAt: formExpiresAt, page }: SignedForm,
  { rights, isLower }: Extract<ReturnType<typeof lowerLimits>, { problems: null }>,
  codeHash: Digest,
  caller: Caller,
): Approval & Rejection {
  const { user, sessionHash } = pending.session;
  const { client, scope, canonicalQuery, instanceName, redirectUri, codeChallenge } =
    pending.authorizationRequest;
  return {
    grantId: grantIdOf(pending),
    userId: user.userId,
    clientId: client.clientId,
    clientRevision: client.revision,
    instanceName,
    revision,
    scope: isLower ? formatScope(rights) : scope, // as sent, byte for byte
    askedScope: isLower ? scope : null,
    limits: JSON.stringify(limitsAmong(rightData(rights))),
    redirectUri,
    codeHash,
    codeLifetimeSeconds,
    codeChallenge,
    sessionHash,
    requestDigest: sha256(canonicalQuery),
    maxInstances,
    confirmsPayments,
    formExpiresAt,
    page,
    caller,
  };
}
