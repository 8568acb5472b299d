import { randomBytes } from 'node:crypto';
import { sha256 } from '../secrets/digest.ts';
import { verifyPassword } from '../secrets/password.ts';
import { deleteSession, findSession, insertSession, type Session } from '../store/sessions.ts';
import { findUserByLogin } from '../store/users.ts';
import type { Context } from './context.ts';

const COOKIE_BYTES = 32;

/**
 * Signs a user in (contract 5.1). Unknown login, wrong password and blocked user are one answer after the
 * same work.
 *
 * @param earlierCookie the session cookie that the browser sent, if any: that session ends
 * @returns the value of the new session cookie, or undefined
 */
export async function signIn(
  { db }: Context,
  login: string,
  password: string,
  earlierCookie: string | undefined,
): Promise<string | undefined> {
  const user = await findUserByLogin(db, login);
  const matches = await verifyPassword(user?.passwordHash ?? null, password);
  if (user === undefined || !matches) return undefined;
  const cookie = randomBytes(COOKIE_BYTES).toString('base64url');
  const signedIn = await insertSession(db, {
    sessionHash: sha256(cookie),
    userId: user.userId,
    passwordHash: user.passwordHash,
    earlierHash: earlierCookie === undefined ? null : sha256(earlierCookie),
  });
  return signedIn ? cookie : undefined;
}

/** The session of a cookie, undefined when nobody is signed in with it. */
export async function currentSession(
  { db }: Context,
  cookie: string | undefined,
): Promise<Session | undefined> {
  return cookie === undefined ? undefined : findSession(db, sha256(cookie));
}

/** Ends a session for good: the cookie that named it is worth nothing afterwards. */
export async function signOut({ db }: Context, session: Session): Promise<void> {
  await deleteSession(db, session.sessionHash);
}
