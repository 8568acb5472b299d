import type { Caller } from '../../rules/common/caller.ts';
import { OAuthError } from '../../rules/common/error.ts';
import {
  CONFIRMATION_MS,
  CONSENT_FORM_MS,
  type TokenLifetime,
  tokenLifetimeFrom,
} from '../../rules/common/lifetimes.ts';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { answerLocation, hasOwnScheme } from '../../rules/request/redirectUri.ts';
import { limitsAmong, rightData } from '../../rules/scope/rightData.ts';
import { hasSpendingRight, type Right } from '../../rules/scope/scope.ts';
import { earlierEnds, type LoweringProblems, lowerLimits } from '../../rules/spending/lowering.ts';
import { worstCase } from '../../rules/spending/worstCase.ts';
import { s256, sha256 } from '../../secrets/digest.ts';
import { formatToken, shardOf } from '../../secrets/tokens.ts';
import { emit } from '../../signals/events.ts';
import { approveGrant, type DecisionConfirmation, findApproval } from '../../store/authorize/approvals.ts';
import { rejectGrant } from '../../store/authorize/rejections.ts';
import type { Context } from '../common/context.ts';
import { contentOf } from '../common/signedForm.ts';
import { textDigestOf } from '../common/textDigest.ts';
import { PAYMENT_DETAILS_TYPE } from '../signIn/provider/answer.ts';
import type { Choice, PendingAuthorization, VerifiedDecision } from './decisionForms.ts';
import * as forms from './decisionForms.ts';

const NOT_POSSIBLE = 'This authorization is not possible any more.';

interface SentDecision {
  readonly choice: Choice;
  readonly decisionToken: string | undefined;
  /** What was typed in each of `limitFields`; undefined for one that is missing. */
  readonly typed: readonly (string | undefined)[];
}

export type DecisionOutcome =
  /** The browser returns to the application, with a code or with `access_denied`. */
  | { readonly outcome: 'answered'; readonly choice: Choice; readonly location: string }
  /** Nothing was decided yet: the payment password or the provider confirms this decision first. */
  | { readonly outcome: 'confirm'; readonly decision: string }
  /** The decision was carried out. A page says so, and leads to the application. */
  | { readonly outcome: 'receipt'; readonly choice: Choice; readonly decision: string }
  /**
   * Nothing was decided. `stale`: the form or session is over; `too_many`: faster than a person can read; `full`: the maximum of
   * live instances; `spent`: this page was allowed, its code used or expired; `allowed`: the same, and Reject can't undo it.
   */
  | { readonly outcome: 'stale' | 'too_many' | 'full' | 'spent' | 'allowed' };

/** Fields with invalid sums, by the index of their rights. Nothing was decided. */
interface WrongLimits {
  readonly outcome: 'wrong_limits';
  readonly problems: ReadonlyMap<number, LoweringProblems>;
}

/** Money may be spent, and the user, or the provider, can confirm it (contract 5.1). */
export function needsConfirmation({ confirmsPayments }: Context, pending: PendingAuthorization): boolean {
  const { authorizationRequest, session } = pending;
  return (
    hasSpendingRight(authorizationRequest.rights) && (confirmsPayments || session.user.hasPaymentPassword)
  );
}

/**
 * Decides on the contents of a consent page (contract section 3): Allow replaces an earlier grant, Reject leaves it.
 * @throws {OAuthError} `unauthorized_client` if the client or the user was blocked at the last moment
 */
export async function decide(
  context: Context,
  pending: PendingAuthorization,
  { choice, decisionToken, typed }: SentDecision,
  caller: Caller,
): Promise<DecisionOutcome | WrongLimits> {
  const form = forms.verifyDecisionToken(context, pending, decisionToken);
  const { authorizationRequest: request, session } = pending;
  const fields = choice === 'allow' ? forms.limitFields(context, request) : [];
  const lifetime = tokenLifetimeFrom(session.now);
  const isOffered = ({ limit, part }: (typeof fields)[number], text: string | undefined) =>
    part === 'until' && text
      ? earlierEnds(limit, lifetime).some(({ day }) => day === text)
      : text !== undefined;
  // A form without a field of its page, or with a day that the page does not offer, is stale, too.
  if (form === null || !fields.every((field, at) => isOffered(field, typed[at]))) return { outcome: 'stale' };
  const lowering = lowerLimits(request.rights, forms.typedIn(fields, typed));
  if (lowering.problems !== null) return { outcome: 'wrong_limits', problems: lowering.problems };
  const lowered = forms.limitsToLower(request).map(({ index, limit }) => {
    const granted = lowering.rights[index]?.limit;
    return granted === undefined || granted === limit ? {} : granted;
  });
  const { revision, keyId, digest: page, textDigest } = form;
  const pressed: VerifiedDecision = { choice, revision, page, keyId, lowered, textDigest };
  if (choice === 'allow' && needsConfirmation(context, pending))
    return { outcome: 'confirm', decision: forms.signDecision(context, pending, pressed) };
  return writeDecision(context, pending, pressed, null, caller);
}

/**
 * Writes a decision. Sending it twice is one decision: the code is computed from it, so the second finds its own code in the row.
 * @param proof what confirmed it; PostgreSQL refuses to let money be spent without, unless the user has no way to confirm
 * @throws {OAuthError} as {@link decide}
 */
export async function writeDecision(
  context: Context,
  pending: PendingAuthorization,
  pressed: VerifiedDecision,
  proof: DecisionConfirmation,
  caller: Caller,
): Promise<DecisionOutcome> {
  const { authorizationRequest } = pending;
  const code = codeOf(context, pending, pressed);
  const decision = { proof, ...caller, ...decisionOf(context, pending, pressed, code) };
  const verdict = await (pressed.choice === 'allow' ? approveGrant : rejectGrant)(context.db, decision);
  if (verdict === 'too_many') emit('throttle', 'decisions');
  // One that came after Reject confirmed nothing.
  if (proof !== null) emit('paymentConfirmation', verdict === 'written' ? 'confirmed' : 'stale');
  // The page of a password may not lead to the application, and one with a scheme of its own may not open at all.
  const showsReceipt = proof !== null || hasOwnScheme(authorizationRequest.redirectUri);
  const answered = (choice: Choice): DecisionOutcome =>
    showsReceipt
      ? { outcome: 'receipt', choice, decision: forms.signDecision(context, pending, { ...pressed, choice }) }
      : { outcome: 'answered', choice, location: locationOf(context, authorizationRequest, choice, code) };
  if (verdict === 'written') return answered('allow');
  if (verdict === 'rejected') return answered('reject');
  if (verdict === 'blocked')
    throw new OAuthError('client_or_user_blocked', NOT_POSSIBLE, 'the client or the user was blocked');
  return { outcome: verdict === 'ended' ? 'stale' : verdict };
}

/** What came of a decision. */
export interface Receipt extends TokenLifetime {
  readonly choice: Choice;
  readonly rights: readonly Right[];
  /** Where the application gets its answer (contract 4.1); null if the code is used or expired. */
  readonly location: string | null;
  /** False if nothing is left of what was allowed. */
  readonly isLive: boolean;
}

/**
 * Finds what came of a decision.
 * @returns null if it was not carried out, or another took its place
 */
export async function findReceipt(
  context: Context,
  pending: PendingAuthorization,
  decision?: string,
): Promise<Receipt | null> {
  const { authorizationRequest, session } = pending;
  const until = tokenLifetimeFrom(session.now);
  if (forms.readDecision(context, pending, decision, 'reject') !== null) {
    const location = locationOf(context, authorizationRequest, 'reject', '');
    return { choice: 'reject', rights: [], location, isLive: true, ...until };
  }
  const pressed = forms.readDecision(context, pending, decision, 'allow');
  if (pressed === null) return null;
  const code = codeOf(context, pending, pressed);
  const { rights, scope } = forms.resolveGrantedScope(authorizationRequest, pressed.lowered);
  const approval = { grantId: forms.grantIdOf(pending), codeHash: sha256(code), scope };
  const decided = await findApproval(context.db, approval);
  if (decided === null) return null;
  const location = decided.isUsable ? locationOf(context, authorizationRequest, 'allow', code) : null;
  // In other words than the user's decision had, they would be told wrongly.
  const isAsSaid = pressed.textDigest === textDigestOf(context, authorizationRequest);
  return { choice: 'allow', rights: isAsSaid ? rights : [], location, isLive: decided.isLive, ...until };
}

function locationOf({ baseUrl }: Context, request: AuthorizationRequest, choice: Choice, code: string) {
  const issuer = request.client.oauth21 ? baseUrl : null;
  return choice === 'allow'
    ? answerLocation(request, 'code', code, issuer)
    : answerLocation(request, 'error', 'access_denied', issuer);
}

/** One code per form and revision, for any typed sums: a second press finds the Allow by it. */
function codeOf(
  { keyRing }: Context,
  pending: PendingAuthorization,
  { keyId, revision }: VerifiedDecision,
): string {
  const content = contentOf(forms.decisionForm(pending), revision) + pending.authorizationRequest.scope;
  const userSlot = shardOf(pending.session.user.userId);
  const secret = keyRing.codeSecret(keyId, Buffer.from(content));
  return formatToken('code', { grantId: forms.grantIdOf(pending), userSlot }, secret);
}

/** A decision for the provider's page: docs/operate/moving-in.md#what-its-page-shows */
export function authorizationDetailsOf(
  request: AuthorizationRequest,
  { lowered }: VerifiedDecision,
  decision: string,
): string {
  const { rights } = forms.resolveGrantedScope(request, lowered);
  const { sum: amount, currency, days } = worstCase(rights) ?? {};
  const details = {
    type: PAYMENT_DETAILS_TYPE,
    decision_hash: s256(decision),
    client_name: request.client.name,
  };
  const total = { ...details, amount, currency, period_days: days ?? undefined };
  const whole = JSON.stringify([{ ...total, limits: limitsAmong(rightData(rights)) }]);
  // An address of 8 KB passes every proxy.
  return encodeURIComponent(whole).length > 4_000 ? JSON.stringify([total]) : whole;
}

/** What the row of the grant, or of the rejection, and its event need. */
function decisionOf(
  context: Context,
  pending: PendingAuthorization,
  pressed: VerifiedDecision,
  code: string,
) {
  const { session, authorizationRequest } = pending;
  const { client, instanceName, redirectUri, codeChallenge, askedScope } = authorizationRequest;
  const { rights, scope } = forms.resolveGrantedScope(authorizationRequest, pressed.lowered);
  return {
    grantId: forms.grantIdOf(pending),
    userId: session.user.userId,
    clientId: client.clientId,
    clientRevision: client.revision,
    instanceName,
    revision: pressed.revision,
    scope,
    askedScope: scope === askedScope ? null : askedScope,
    limits: JSON.stringify(limitsAmong(rightData(rights))),
    redirectUri,
    codeHash: sha256(code),
    codeLifetimeSeconds: context.codeLifetimeSeconds,
    codeChallenge,
    sessionHash: session.sessionHash,
    maxInstances: context.maxInstances,
    confirmsPayments: context.confirmsPayments,
    page: pressed.page,
    // Until then the page, and a decision signed on it, could still be sent.
    keptUntil: new Date(session.now.getTime() + CONSENT_FORM_MS + CONFIRMATION_MS),
  };
}
