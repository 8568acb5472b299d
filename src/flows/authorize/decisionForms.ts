import { randomUUID } from 'node:crypto';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { formatScope } from '../../rules/scope/scope.ts';
import { type LoweredLimit, lowerableLimits, lowerLimits } from '../../rules/spending/lowering.ts';
import type { Digest } from '../../secrets/digest.ts';
import { deriveGrantId } from '../../secrets/tokens.ts';
import type { Session } from '../../store/common/sessions.ts';
import type { Context } from '../common/context.ts';
import { bindForm, signForm, verifyForm } from '../common/signedForm.ts';
import { textDigestOf } from '../common/textDigest.ts';

/** A checked request without the signed-in user's answer. */
export interface PendingAuthorization {
  readonly authorizationRequest: AuthorizationRequest;
  readonly session: Session;
}

export type Choice = 'allow' | 'reject';

/** A button that the user pressed on a consent page. */
export interface VerifiedDecision {
  readonly choice: Choice;
  /** Of the grant on the page; 0 for none. */
  readonly revision: number;
  /** Identifies the page, however often that is sent. */
  readonly page: Digest;
  /** The entry of `SECRETS` that signed the page: the code is computed with it. */
  readonly keyId: Buffer;
  /** What is granted of `limitsToLower`, in their order; empty for one as asked. */
  readonly lowered: readonly LoweredLimit[];
  /** What the page said of the rights: see {@link textDigestOf}. */
  readonly textDigest: string;
}

/** The only grant of this user to this application instance. */
export function grantIdOf({ authorizationRequest, session }: PendingAuthorization): string {
  const { client, instanceName } = authorizationRequest;
  return deriveGrantId(session.user.userId, client.clientId, instanceName);
}

/** Of more limits only the sums can be lowered: a decision is part of an address. */
const MAX_LOWERED_WHOLLY = 100;

/** The limits that this request's users may lower. */
export function limitsToLower({ client, rights }: AuthorizationRequest) {
  return client.userLimits ? lowerableLimits(rights) : [];
}

/** The fields of these limits, in the order of the page. */
export function limitFields(
  { furtherLimits }: Pick<Context, 'furtherLimits'>,
  request: AuthorizationRequest,
) {
  const limits = limitsToLower(request);
  const parts = ['sum', ...(limits.length > MAX_LOWERED_WHOLLY ? [] : furtherLimits)] as const;
  return limits.flatMap((one) => parts.map((part) => ({ ...one, part })));
}

/** What was typed, in the order of its fields, by the index of the right. */
export function typedIn(fields: ReturnType<typeof limitFields>, typed: readonly (string | undefined)[]) {
  const limits = new Map<number, LoweredLimit>();
  for (const [at, { index, part }] of fields.entries())
    limits.set(index, { ...limits.get(index), [part]: typed[at] });
  return limits;
}

/** What a decision grants. @param lowered of {@link VerifiedDecision}, checked when it was typed */
export function resolveGrantedScope(request: AuthorizationRequest, lowered: readonly LoweredLimit[]) {
  const lower = new Map(limitsToLower(request).map(({ index }, at) => [index, lowered[at] ?? {}]));
  const { rights = request.rights, isLower = false } = lowerLimits(request.rights, lower);
  return { rights, scope: isLower ? formatScope(rights) : request.scope };
}

/** The consent form: a decision on this request by this user, as the client is registered now. */
export function decisionForm(pending: PendingAuthorization, action: 'decision' | Choice = 'decision') {
  const { authorizationRequest, session } = pending;
  const { client, canonicalQuery, scope, askedScope } = authorizationRequest;
  // With other settings, this request may be completed in another way.
  const completed = scope === askedScope ? [] : [scope];
  const subject = [session.user.userId, grantIdOf(pending), client.revision, canonicalQuery, ...completed];
  return bindForm(action, session, ...subject);
}

/** The token of a consent page: each page has its own. */
export function createDecisionToken(
  context: Context,
  pending: PendingAuthorization,
  revision: number,
): string {
  const carried = [textDigestOf(context, pending.authorizationRequest), randomUUID()];
  return signForm(context, decisionForm(pending), revision, carried);
}

/** @returns null if it is not this session's consent page of this request, has expired, or says something else now */
export function verifyDecisionToken(
  context: Context,
  pending: PendingAuthorization,
  token: string | undefined,
) {
  const form = verifyForm(context, token, decisionForm(pending));
  const [textDigest = ''] = form?.carried ?? [];
  return textDigest === textDigestOf(context, pending.authorizationRequest)
    ? form && { ...form, textDigest }
    : null;
}

/** A decision as its user made it, for the pages that confirm it and say what came of it: nothing of it is stored. */
export function signDecision(
  context: Context,
  pending: PendingAuthorization,
  pressed: VerifiedDecision,
): string {
  const { choice, revision, page, keyId, lowered, textDigest } = pressed;
  const carried = [page, keyId.toString('hex'), lowered.map(writeLowered).join(), textDigest];
  return signForm(context, decisionForm(pending, choice), revision, carried);
}

/** Allow as pressed on the page of a token, with its limits as asked; null for another text. */
export function signAllow(context: Context, pending: PendingAuthorization, token: string): string | null {
  const form = verifyDecisionToken(context, pending, token);
  if (form === null) return null;
  const { revision, keyId, digest: page, textDigest } = form;
  return signDecision(context, pending, { choice: 'allow', revision, page, keyId, lowered: [], textDigest });
}

/** Like {@link readDecision}, but null if pages now say something else of the rights: the user did not decide on that. */
export function verifyDecision(context: Context, pending: PendingAuthorization, token: string | undefined) {
  const pressed = readDecision(context, pending, token, 'allow');
  return pressed?.textDigest === textDigestOf(context, pending.authorizationRequest) ? pressed : null;
}

/** @returns null if it is not this session's decision on this request, or has expired */
export function readDecision(
  context: Context,
  pending: PendingAuthorization,
  token: string | undefined,
  choice: Choice,
): VerifiedDecision | null {
  const form = verifyForm(context, token, decisionForm(pending, choice));
  if (form === null) return null;
  const [page = '', id = '', lowered = '', textDigest = ''] = form.carried;
  const keyId = Buffer.from(id, 'hex');
  // The entry of its page may have been retired meanwhile.
  if (!context.keyRing.has(keyId)) return null;
  return {
    choice,
    revision: form.revision,
    page: page as Digest,
    keyId,
    lowered: lowered.split(',').map(readLowered),
    textDigest,
  };
}

/** For example `5000`, `5000/500` or `5000//2027-06-30`. */
function writeLowered({ sum = '', each = '', until = '' }: LoweredLimit): string {
  return `${sum}/${each}/${until}`.replace(/\/+$/, '');
}

function readLowered(text: string): LoweredLimit {
  const [sum, each, until] = text.split('/').map((part) => part || undefined);
  return { sum, each, until };
}
