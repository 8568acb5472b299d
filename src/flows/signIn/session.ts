import { randomBytes } from 'node:crypto';
import type { RequestMeta } from '../../rules/common/caller.ts';
import { sha256 } from '../../secrets/digest.ts';
import { deleteSession, findSession, type Session } from '../../store/common/sessions.ts';
import { type User, updateLanguage } from '../../store/common/users.ts';
import type { Context } from '../common/context.ts';
import { formOf, signForm, verifyForm } from '../common/signedForm.ts';

export type { Session };

/** The session of a cookie; null if not signed in. */
export async function currentSession({ db }: Context, cookie: string | null): Promise<Session | null> {
  return cookie === null ? null : findSession(db, sha256(cookie));
}

/** Keeps a user's language for browsers without a choice. A lost one costs a click, so errors are ignored. */
export async function keepLanguage({ db }: Context, { userId }: Pick<User, 'userId'>, language: string) {
  await updateLanguage(db, { userId, language }).catch(() => undefined);
}

/** The token of the sign-out form, the same form on every page. */
export function signOutToken(context: Context, session: Session): string {
  return signForm(context, formOf('sign-out', session));
}

/** Ends a session: its cookie is invalid afterwards. */
export async function signOut(
  context: Context,
  session: Session,
  formToken: string | undefined,
  request: RequestMeta,
): Promise<{ readonly outcome: 'signed_out' | 'stale' }> {
  if (verifyForm(context, formToken, formOf('sign-out', session)) === null) return { outcome: 'stale' };
  await deleteSession(context.db, { sessionHash: session.sessionHash, ...request });
  return { outcome: 'signed_out' };
}

const PRE_LOGIN_BYTES = 16;

/** The pre-login session ties sign-in forms to a browser (login CSRF). `newCookie` is null if the sent one is ours. */
export function preLoginSession({ keyRing }: Context, sent: string | null) {
  const isOurs = sent !== null && keyRing.verify('visit', sent) !== undefined;
  const cookie = isOurs ? sent : keyRing.sign('visit', randomBytes(PRE_LOGIN_BYTES));
  const owner = { sessionHash: sha256(cookie), now: new Date() };
  return { owner, newCookie: isOurs ? null : cookie };
}
