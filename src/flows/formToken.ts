import { sha256 } from '../secrets/digest.ts';
import type { Session } from '../store/sessions.ts';
import type { Context } from './context.ts';

/** The forms that a signed-in user can send; a token for one is worth nothing in another. */
export type FormAction = 'payment-password' | 'sign-out' | 'disconnect';

/**
 * Ties a form to the session it was shown in and to what it is about, so that no other site, session or
 * request can send it.
 *
 * @param subject what the form acts on: a canonical query, a grant id, or nothing
 */
export function printFormToken(
  { keyRing }: Context,
  action: FormAction,
  session: Session,
  subject = '',
): string {
  return keyRing.sign('form', digest(action, session, subject));
}

/** Whether `token` was made for this very form. */
export function formTokenFits(
  { keyRing }: Context,
  token: string | undefined,
  action: FormAction,
  session: Session,
  subject = '',
): boolean {
  const signed = keyRing.verify('form', token ?? '');
  return signed?.payload.equals(digest(action, session, subject)) ?? false;
}

function digest(action: FormAction, session: Session, subject: string): Buffer {
  return sha256(JSON.stringify([action, session.sessionHash.toString('hex'), subject]));
}
