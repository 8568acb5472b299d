import { sha256 } from '../secrets/digest.ts';
import { verifyPassword } from '../secrets/password.ts';
import { randomSecret } from '../secrets/random.ts';
import { deleteSession, insertSession, type Session } from '../store/sessions.ts';
import { findUserByLogin, loginKey } from '../store/users.ts';
import type { Caller, Context } from './context.ts';
import { forgive } from './throttle.ts';

/** What comes of a sign-in. */
export type SignInOutcome =
  | { readonly outcome: 'signed-in'; readonly cookie: string }
  /** The login, the password, or both; or the user is blocked. Nobody is told which. */
  | { readonly outcome: 'wrong' }
  | { readonly outcome: 'wait'; readonly waitSeconds: number };

/**
 * Signs a user in (contract 5.1). Unknown login, wrong password and blocked user are one answer after the
 * same work.
 *
 * @param earlierCookie the session cookie that the browser sent, if any: that session ends
 * @returns with `cookie`, the value of the new session cookie
 * @throws {BusyError} when too many passwords are being checked
 */
export async function signIn(
  context: Context,
  login: string,
  password: string,
  earlierCookie: string | undefined,
  caller: Caller,
): Promise<SignInOutcome> {
  const { address } = caller;
  const attempt = await context.takeTry({ guarded: 'password', login: loginKey(login), address });
  if (!('keys' in attempt)) return { outcome: 'wait', waitSeconds: attempt.waitSeconds };
  const user = await findUserByLogin(context.db, login);
  const passwordHash = user?.status === 'active' ? user.passwordHash : null;
  const matches = await verifyPassword(passwordHash, password);
  if (user === undefined || passwordHash === null || !matches) return { outcome: 'wrong' };
  await forgive(context, attempt.keys);
  const cookie = randomSecret().toString('base64url');
  const session = {
    sessionHash: sha256(cookie),
    userId: user.userId,
    passwordHash,
    earlierHash: earlierCookie === undefined ? null : sha256(earlierCookie),
  };
  // Last, so that there is a session only if its cookie is handed out.
  const signedIn = await insertSession(context.db, session, caller.decideBy);
  return signedIn ? { outcome: 'signed-in', cookie } : { outcome: 'wrong' };
}

/** The session of a cookie, undefined when nobody is signed in with it. */
export async function currentSession(
  { findSession }: Context,
  cookie: string | undefined,
): Promise<Session | undefined> {
  if (cookie === undefined) return undefined;
  return (await findSession(sha256(cookie))) ?? undefined;
}

/** Ends a session for good: the cookie that named it is worth nothing afterwards. */
export async function signOut({ db }: Context, session: Session): Promise<void> {
  await deleteSession(db, session.sessionHash);
}
