import { randomBytes } from 'node:crypto';
import type { Caller } from '../rules/caller.ts';
import { sha256 } from '../secrets/digest.ts';
import { deleteSession, findSession, type Session } from '../store/sessions.ts';
import type { Context } from './context.ts';
import { type Form, type FormOwner, signForm, verifyForm } from './signedForm.ts';

export type { Session };

/** The session of a cookie; null when nobody is signed in with it. */
export async function currentSession({ db }: Context, cookie: string | null): Promise<Session | null> {
  return cookie === null ? null : findSession(db, sha256(cookie));
}

/** The token of the form that signs out, the same form on every page. */
export function signOutToken(context: Context, session: Session): string {
  return signForm(context, signOutForm(session));
}

/** Ends a session for good: the cookie that named it is worth nothing afterwards. */
export async function signOut(
  context: Context,
  session: Session,
  formToken: string | undefined,
  caller: Caller,
): Promise<{ readonly outcome: 'signed_out' | 'stale' }> {
  if (verifyForm(context, formToken, signOutForm(session)) === null) return { outcome: 'stale' };
  await deleteSession(context.db, session.sessionHash, caller);
  return { outcome: 'signed_out' };
}

function signOutForm(session: Session): Form {
  return { action: 'sign-out', owner: session, subject: [] };
}

const PRE_LOGIN_BYTES = 16;

/**
 * The pre-login session of a browser, which ties sign-in forms to it (login CSRF): a signed random value in a cookie, shared
 * by all tabs. It writes nothing and gives no right.
 *
 * @param sent the cookie; another session begins when it is none of ours
 * @returns the owner of sign-in forms, and the cookie to set; null for none
 */
export function preLoginSession(
  { keyRing }: Context,
  sent: string | null,
): { owner: FormOwner; newCookie: string | null } {
  const isOurs = sent !== null && keyRing.verify('visit', sent) !== undefined;
  const cookie = isOurs ? sent : keyRing.sign('visit', randomBytes(PRE_LOGIN_BYTES));
  const owner = { sessionHash: sha256(cookie), now: new Date() };
  return { owner, newCookie: isOurs ? null : cookie };
}
