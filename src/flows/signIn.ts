import { sha256 } from '../secrets/digest.ts';
import { verifyPassword } from '../secrets/password.ts';
import { randomSecret } from '../secrets/random.ts';
import { deleteSession, findSession, insertSession, type Session } from '../store/sessions.ts';
import { recordGuessing } from '../store/throttles.ts';
import { findUserByKey, loginKey, type UserWithPasswords } from '../store/users.ts';
import type { Caller, Context } from './context.ts';
import { printDevice, readDevice } from './device.ts';
import { tryPassword } from './tryPassword.ts';

/** What comes of a sign-in. */
export type SignInOutcome =
  /** With the values of the new session cookie and of the new device cookie. */
  | { readonly outcome: 'signed-in'; readonly cookie: string; readonly deviceCookie: string }
  /** The login, the password, or both; or the user is blocked. Nobody is told which. */
  | { readonly outcome: 'wrong' }
  | { readonly outcome: 'wait'; readonly waitSeconds: number };

/** The cookies that a browser sent with a sign-in. */
export interface SentCookies {
  /** That session ends. */
  readonly session: string | undefined;
  readonly device: string | undefined;
}

/**
 * Signs a user in (contract 5.1). Unknown login, wrong password and blocked user are one answer after the
 * same work.
 *
 * @throws {BusyError} when too many passwords are being checked
 */
export async function signIn(
  context: Context,
  typed: { readonly login: string; readonly password: string },
  sent: SentCookies,
  caller: Caller,
): Promise<SignInOutcome> {
  const { db } = context;
  const login = loginKey(typed.login);
  let user: UserWithPasswords | undefined;
  const guess = {
    guarded: 'password',
    login,
    device: await knownDevice(context, login, sent.device),
  } as const;
  const result = await tryPassword(context, guess, caller, async (turn) => {
    user = (await findUserByKey(db, login)) ?? undefined;
    const passwordHash = user?.status === 'active' ? user.passwordHash : null;
    return (await verifyPassword(passwordHash, typed.password, turn)) ? user : undefined;
  });
  if (result.outcome === 'wait') return result;
  if (result.outcome === 'wrong') {
    if (result.notable !== null) {
      await recordGuessing(db, result.notable, 'password_guessed', user?.userId ?? null, caller);
    }
    return { outcome: 'wrong' };
  }
  const cookie = randomSecret().toString('base64url');
  const { userId, passwordHash } = result.right;
  const session = {
    sessionHash: sha256(cookie),
    userId,
    passwordHash,
    earlierHash: sent.session === undefined ? null : sha256(sent.session),
  };
  // Last, so that there is a session only if its cookie is handed out.
  if (!(await insertSession(db, session, caller))) return { outcome: 'wrong' };
  return {
    outcome: 'signed-in',
    cookie,
    deviceCookie: printDevice(context, 'password', login, passwordHash, sent.device),
  };
}

/** Only a browser that sends a cookie of ours for this login has its user looked up for it. */
async function knownDevice(
  context: Context,
  login: string,
  cookie: string | undefined,
): Promise<string | undefined> {
  const device = readDevice(context, 'password', login, cookie);
  if (device === undefined) return undefined;
  const user = await findUserByKey(context.db, login);
  return device.isFor(user?.passwordHash ?? null) ? device.name : undefined;
}

/** The session of a cookie, undefined when nobody is signed in with it. */
export async function currentSession(
  { db }: Context,
  cookie: string | undefined,
): Promise<Session | undefined> {
  if (cookie === undefined) return undefined;
  return (await findSession(db, sha256(cookie))) ?? undefined;
}

/** Ends a session for good: the cookie that named it is worth nothing afterwards. */
export async function signOut({ db }: Context, session: Session): Promise<void> {
  await deleteSession(db, session.sessionHash);
}
