import type { AuthorizationRequest } from '../rules/authorizationRequest.ts';
import { sha256 } from '../secrets/digest.ts';
import { verifyPassword } from '../secrets/password.ts';
import { randomSecret } from '../secrets/random.ts';
import type { Caller } from '../store/auditEvents.ts';
import { insertSession } from '../store/sessions.ts';
import { recordGuessing } from '../store/throttles.ts';
import { findUserByKey, loginKey, type UserWithPasswords } from '../store/users.ts';
import type { Context } from './context.ts';
import { printDevice, readDevice } from './device.ts';
import { attemptPassword } from './passwordAttempts.ts';
import { preLoginSession } from './session.ts';
import { type Form, type FormOwner, signForm, verifyForm } from './signedForm.ts';

/** What comes of a sign-in. */
export type SignInOutcome =
  /** With the values of the new session cookie and of the new device cookie. */
  | { readonly outcome: 'signed-in'; readonly cookie: string; readonly deviceCookie: string }
  /** The login, the password, or both; or the user is blocked. It is never said which. */
  | { readonly outcome: 'wrong' }
  | { readonly outcome: 'wait'; readonly waitSeconds: number };

/** The cookies that a browser sent with a sign-in: its session, which ends, and its device. */
export interface SentCookies {
  readonly session: string | undefined;
  readonly device: string | undefined;
}

/**
 * Signs a user in (contract 5.1). Unknown login, wrong password and blocked user are one answer after the same work.
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
  const device = await knownDevice(context, login, sent.device);
  let user: UserWithPasswords | undefined;
  const guess = { guarded: 'password', login, device } as const;
  const result = await attemptPassword(context, guess, caller, async (turn) => {
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
  const { userId, passwordHash } = result.right;
  const cookie = randomSecret().toString('base64url');
  const earlierHash = sent.session === undefined ? null : sha256(sent.session);
  const session = { sessionHash: sha256(cookie), userId, passwordHash, earlierHash };
  // Last, so that there is a session only if its cookie is handed out.
  if (!(await insertSession(db, session, caller))) return { outcome: 'wrong' };
  const deviceCookie = printDevice(context, 'password', login, passwordHash, sent.device);
  return { outcome: 'signed-in', cookie, deviceCookie };
}

/** The name of the device; the user is looked up only for a browser that sends a device cookie for this login. */
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

/** The sign-in page, on the way to a request or, where that is null, to the account page. */
export interface SignInStep {
  readonly step: 'sign-in';
  readonly authorizationRequest: AuthorizationRequest | null;
  readonly formToken: string;
  /** The pre-login cookie to set; null where the browser has one. */
  readonly newCookie: string | null;
}

/** The sign-in page for a browser that sent this pre-login cookie. */
export function signInStep(
  context: Context,
  authorizationRequest: AuthorizationRequest | null,
  preLoginCookie: string | undefined,
): SignInStep {
  const { owner, newCookie } = preLoginSession(context, preLoginCookie);
  const formToken = signForm(context, signInForm(owner, authorizationRequest));
  return { step: 'sign-in', authorizationRequest, formToken, newCookie };
}

/** Whether a sign-in form was shown in this browser, on the way to this very request. */
export function isSignInForm(
  context: Context,
  authorizationRequest: AuthorizationRequest | null,
  preLoginCookie: string | undefined,
  formToken: string | undefined,
): boolean {
  const { owner } = preLoginSession(context, preLoginCookie);
  return verifyForm(context, formToken, signInForm(owner, authorizationRequest)) !== null;
}

function signInForm(owner: FormOwner, authorizationRequest: AuthorizationRequest | null): Form {
  return { action: 'sign-in', owner, subject: [authorizationRequest?.canonicalQuery ?? null] };
}
