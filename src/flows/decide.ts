import type { AuthorizationRequest } from '../rules/authorizationRequest.ts';
import type { Caller } from '../rules/caller.ts';
import { OAuthError } from '../rules/error.ts';
import { formatScope } from '../rules/formatScope.ts';
import { type LoweringProblem, lowerableLimits, lowerLimits } from '../rules/lowering.ts';
import { answerLocation } from '../rules/redirectUri.ts';
import { limitsAmong, rightData } from '../rules/rightData.ts';
import type { Right } from '../rules/scope.ts';
import { sha256 } from '../secrets/digest.ts';
import { formatToken, userSlotOf } from '../secrets/tokens.ts';
import { type Approval, approveGrant } from '../store/approvals.ts';
import { type Denial, denyGrant } from '../store/denials.ts';
import type { Context } from './context.ts';
import { grantIdOf, type PendingAuthorization, verifyDecision } from './decisionForms.ts';
import type { SignedForm } from './signedForm.ts';

/** What comes of pressing Allow or Reject. */
export type DecisionOutcome =
  /** The browser goes back to the application, with a code or with `access_denied`. */
  | { readonly outcome: 'answered'; readonly location: string }
  /** Sums that can't be granted: by the places of their rights, what is wrong with them. Nothing was decided. */
  | { readonly outcome: 'wrong_limits'; readonly problems: ReadonlyMap<number, LoweringProblem> }
  /** `stale`: the form does not fit any more, or the session is over, so the request is to be shown afresh. */
  | { readonly outcome: 'stale' | NotDecided };

/** Why nothing was decided although the form is good. */
type NotDecided =
  /** The user has decided more than anybody reads in that time. */
  | 'too_many'
  /** The user has as many live instances of this application as one may have. */
  | 'full'
  /** Allow was taken from this very page before, and its code is used or too old. */
  | 'spent'
  /** Allow was taken from this very page before: rejecting now would only look as if it undid that. */
  | 'allowed';

/** What a consent form says. */
export interface SentDecision {
  readonly choice: 'allow' | 'reject';
  readonly decisionToken: string | undefined;
  /** What stood in the fields of the limits, by the places of their rights in the scope. */
  readonly typedSums: ReadonlyMap<number, string>;
}

/** The limits that this request's users may lower: their fields are part of its consent form. */
export function limitsToLower({ client, rights }: AuthorizationRequest) {
  return client.userLimits ? lowerableLimits(rights) : [];
}

/**
 * The user decides on a request, on exactly what the consent page showed (contract section 3, first two rows). Allowing
 * writes the grant, which annuls an earlier one; rejecting leaves that as it is.
 *
 * Pressing twice is one decision: the code is computed from it, so the second press finds its own code in the row.
 *
 * @throws {OAuthError} `unauthorized_client` when the client or the user was blocked at the last moment
 */
export async function decide(
  context: Context,
  pending: PendingAuthorization,
  sent: SentDecision,
  caller: Caller,
): Promise<DecisionOutcome> {
  const form = verifyDecision(context, sent, pending);
  if (form === null) return { outcome: 'stale' };
  const granted = sent.choice === 'allow' ? grantedBy(sent, pending) : asked(pending);
  if (granted === null) return { outcome: 'stale' };
  if (granted.problems !== null) return { outcome: 'wrong_limits', problems: granted.problems };
  const code = codeOf(context, pending, form);
  const decision = decisionOf(context, pending, granted, form, code, caller);
  const verdict = await (sent.choice === 'allow' ? approveGrant : denyGrant)(context.db, decision);
  const answer = (name: 'code' | 'error', value: string) =>
    ({ outcome: 'answered', location: answerLocation(pending.authorizationRequest, name, value) }) as const;
  switch (verdict) {
    case 'written':
      return answer('code', code);
    case 'denied':
      return answer('error', 'access_denied');
    case 'blocked':
      throw new OAuthError('unauthorized_client', 'This authorization is not possible any more.', {
        reason: 'no_longer_possible',
        rule: 'the client or the user was blocked',
      });
    case 'ended':
      return { outcome: 'stale' };
    default:
      return { outcome: verdict };
  }
}

/** What a decision is about: the request, or less. */
interface Access {
  readonly scope: string;
  readonly rights: readonly Right[];
  /** The scope of the request where `scope` is less; null otherwise. */
  readonly askedScope: string | null;
  readonly problems: null;
}

/** The scope of a request stays as it was sent, byte for byte. */
function asked({ authorizationRequest: { scope, rights } }: PendingAuthorization): Access {
  return { scope, rights, askedScope: null, problems: null };
}

/**
 * What allowing grants, with the sums that the user typed.
 *
 * @returns null for a form without a field that its page had: what is not there was not decided
 */
function grantedBy({ typedSums }: SentDecision, pending: PendingAuthorization) {
  const { authorizationRequest } = pending;
  const limits = limitsToLower(authorizationRequest);
  if (!limits.every(({ index }) => typedSums.has(index))) return null;
  const typed = new Map(limits.map(({ index }) => [index, typedSums.get(index) ?? '']));
  const lowering = lowerLimits(authorizationRequest.rights, typed);
  if (lowering.problems !== null) return { problems: lowering.problems };
  if (!lowering.isLower) return asked(pending);
  const { rights } = lowering;
  return { scope: formatScope(rights), rights, askedScope: authorizationRequest.scope, problems: null };
}

/**
 * The code that allowing gives. It depends on all that the page showed, and not on the sums that were typed there: whatever
 * they are, a page gives one code, by which a second press of its buttons finds out that Allow was taken.
 */
function codeOf({ keyRing }: Context, pending: PendingAuthorization, { keyId, content }: SignedForm): string {
  const secret = keyRing.codeSecret(keyId, Buffer.from(content + pending.authorizationRequest.scope));
  const userSlot = userSlotOf(pending.session.user.userId);
  return formatToken('code', { grantId: grantIdOf(pending), userSlot }, secret);
}

/** What is written of a decision, whichever it is. */
function decisionOf(
  context: Context,
  pending: PendingAuthorization,
  { scope, rights, askedScope }: Access,
  { revision, expiresAt, page }: SignedForm,
  code: string,
  caller: Caller,
): Approval & Denial {
  const { authorizationRequest, session } = pending;
  const { client, canonicalQuery } = authorizationRequest;
  return {
    grantId: grantIdOf(pending),
    userId: session.user.userId,
    clientId: client.clientId,
    clientRevision: client.revision,
    instanceName: authorizationRequest.instanceName,
    revision,
    scope,
    askedScope,
    limits: JSON.stringify(limitsAmong(rightData(rights, context.currency))),
    redirectUri: authorizationRequest.redirectUri,
    codeHash: sha256(code),
    codeLifetimeSeconds: context.codeLifetimeSeconds,
    codeChallenge: authorizationRequest.codeChallenge,
    sessionHash: session.sessionHash,
    requestDigest: sha256(canonicalQuery),
    maxInstances: context.maxInstances,
    formExpiresAt: expiresAt,
    page,
    caller,
  };
}
