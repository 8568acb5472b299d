import { bytesOf, type Digest, hexOf, sha256 } from '../secrets/digest.ts';
import type { Context } from './context.ts';

/** The forms of ours beside the decision; a token for one is worth nothing in another. */
export type FormAction = 'sign-in' | 'payment-password' | 'sign-out' | 'disconnect' | 'disconnect-all';

/** The browser that a form was shown to: by its session or, before sign-in, by its visit. */
export interface Holder {
  readonly sessionHash: Digest;
}

/**
 * Ties a form to the browser it was shown to and to what it is about, so that no other site, browser, session or
 * request can send it.
 *
 * @param subject what the form acts on: a canonical query, a grant id, a client id, or nothing
 */
export function printFormToken(
  { keyRing }: Context,
  action: FormAction,
  holder: Holder,
  subject = '',
): string {
  return keyRing.sign('form', digest(action, holder, subject));
}

/** Whether `token` was made for this very form. */
export function formTokenFits(
  { keyRing }: Context,
  token: string | undefined,
  action: FormAction,
  holder: Holder,
  subject = '',
): boolean {
  const signed = keyRing.verify('form', token ?? '');
  return signed?.payload.equals(digest(action, holder, subject)) ?? false;
}

function digest(action: FormAction, { sessionHash }: Holder, subject: string): Buffer {
  return bytesOf(sha256(JSON.stringify([action, hexOf(sessionHash), subject])));
}
