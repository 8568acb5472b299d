import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as lifetimes from '../../rules/common/lifetimes.ts';
import { recordOf } from '../../rules/common/recordOf.ts';
import { type Digest, hexOf, sha256 } from '../../secrets/digest.ts';
import type { Context } from './context.ts';

/** Lifetimes by kind of form. A token for one kind is invalid for others. */
const LIFETIMES_MS = {
  'sign-in': lifetimes.SIGN_IN_FORM_MS,
  decision: lifetimes.CONSENT_FORM_MS,
  allow: lifetimes.CONFIRMATION_MS,
  reject: lifetimes.CONFIRMATION_MS,
  ...recordOf(['sign-out', 'disconnect', 'disconnect-all', 'stop-everything'], lifetimes.SESSION_FORM_MS),
  ...recordOf(['see-warnings', 'end-sessions', 'change-password', 'support'], lifetimes.SESSION_FORM_MS),
};

/** The session of the form's browser; before sign-in its pre-login session. */
export interface FormOwner {
  readonly sessionHash: Digest;
  /** The clock for the expiry: the database's for a session, ours before sign-in. */
  readonly now: Date;
}

export type FormBinding = ReturnType<typeof bindForm>;

/** A form, whose token is valid for exactly these. @param subject for example a canonical query or a grant id */
export function bindForm(
  action: keyof typeof LIFETIMES_MS,
  owner: FormOwner,
  ...subject: readonly (string | number | null)[]
) {
  return { action, owner, subject };
}

/**
 * The CSRF token of a form: signed, so that no other site, browser, session or request can send the form.
 * @param revision of the grant on a decision's page, 0 for none @param carried texts that the token brings back
 */
export function signForm(
  { keyRing }: Pick<Context, 'keyRing'>,
  form: FormBinding,
  revision = 0,
  carried: readonly string[] = [],
) {
  const expiresAt = form.owner.now.getTime() + LIFETIMES_MS[form.action];
  const payload = Buffer.from(JSON.stringify([digestOf(form), revision, expiresAt, ...carried]));
  return isInAddress(form)
    ? keyRing.sign('decision', deflateRawSync(payload))
    : keyRing.sign('form', payload);
}

/** A decision is part of an address: with the longest request, and hundreds of lowered sums, it must fit 8 KB. */
function isInAddress({ action }: FormBinding): boolean {
  return action === 'allow' || action === 'reject';
}

/**
 * Checks a form's token. @returns what {@link signForm} was given, `keyId`, the entry of `SECRETS` that signed it, and the SHA-256 of
 * the signed payload; null if it was not made by us for this form, or has expired
 */
export function verifyForm(
  { keyRing }: Pick<Context, 'keyRing'>,
  token: string | undefined,
  form: FormBinding,
) {
  const signed = keyRing.verify(isInAddress(form) ? 'decision' : 'form', token ?? '');
  if (signed === undefined) return null;
  const payload = isInAddress(form) ? inflateRawSync(signed.payload) : signed.payload;
  const [digest, revision, expiresAt, ...carried]: Payload = JSON.parse(payload.toString());
  if (digest !== digestOf(form) || form.owner.now.getTime() >= expiresAt) return null;
  return { revision, carried, keyId: signed.keyId, digest: sha256(signed.payload) };
}

/** The signed payload without expiry and what it carries: the same for every token of one form and revision. */
export function contentOf(form: FormBinding, revision: number): string {
  return JSON.stringify([digestOf(form), revision]);
}

type Payload = [digest: string, revision: number, expiresAt: number, ...carried: string[]];

/** JSON makes the encoding unambiguous. */
function digestOf({ action, owner, subject }: FormBinding): string {
  return hexOf(sha256(JSON.stringify([action, hexOf(owner.sessionHash), ...subject])));
}
