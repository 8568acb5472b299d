import type { AuthorizationRequest } from '../rules/authorizationRequest.ts';
import type { Caller } from '../rules/caller.ts';
import { loginKey } from '../rules/loginKey.ts';
import { shownNetwork } from '../rules/network.ts';
import { deviceOf } from '../rules/userAgent.ts';
import { sha256 } from '../secrets/digest.ts';
import { randomSecret } from '../secrets/random.ts';
import { telling } from '../signals/happenings.ts';
import { insertSession } from '../store/sessions.ts';
import { findUserByKey } from '../store/users.ts';
import type { Context } from './context.ts';
import { attemptPassword, type FailedAttempt } from './passwordAttempts.ts';
import { preLoginSession } from './session.ts';
import { type Form, type FormOwner, signForm, verifyForm } from './signedForm.ts';
import { rememberSession } from './warnings.ts';

/** What comes of a sign-in; `wrong` may be the login, the password, or both, or the user is blocked: it is never said which. */
export type SignInOutcome =
  | {
      readonly outcome: 'signed_in';
      /** The values of the new cookies. */
      readonly sessionCookie: string;
      readonly deviceCookie: string;
      /** Of what the browser has seen; null where it stays as it is. */
      readonly seenCookie: string | null;
    }
  /** The form was not shown in this browser on the way to this very request. */
  | { readonly outcome: 'stale' }
  | FailedAttempt;

/** What the sign-in form holds. */
export interface SentSignIn {
  readonly formToken: string | undefined;
  /** The request that goes on after signing in; null to go on to the account page. */
  readonly authorizationRequest: AuthorizationRequest | null;
  readonly login: string;
  readonly password: string;
}

/** The cookies that a browser sent with a sign-in, null for none: its session (which ends), pre-login session, device, and seen. */
export interface SentCookies {
  readonly session: string | null;
  readonly preLogin: string | null;
  readonly device: string | null;
  readonly seen: string | null;
}

/**
 * Signs a user in (contract 5.1). Unknown login, wrong password and blocked user are one answer after the same work.
 *
 * @throws {BusyError} when too many passwords are being checked
 */
export function signIn(
  context: Context,
  sent: SentSignIn,
  cookies: SentCookies,
  caller: Caller,
): Promise<SignInOutcome> {
  return telling('signIn', attemptSignIn(context, sent, cookies, caller));
}

async function attemptSignIn(
  context: Context,
  sent: SentSignIn,
  cookies: SentCookies,
  caller: Caller,
): Promise<SignInOutcome> {
  const { owner } = preLoginSession(context, cookies.preLogin);
  const form = signInForm(owner, sent.authorizationRequest);
  if (verifyForm(context, sent.formToken, form) === null) return { outcome: 'stale' };
  const { db } = context;
  const { password } = sent;
  const login = loginKey(sent.login);
  const attempt = { guarded: 'password', login, password, deviceCookie: cookies.device } as const;
  const result = await attemptPassword(context, attempt, caller, () => findUserByKey(db, login));
  if (result.outcome !== 'right') return result;
  const { userId, passwordHash, knownDevice, deviceCookie } = result;
  const sessionCookie = randomSecret().toString('base64url');
  const earlierHash = cookies.session === null ? null : sha256(cookies.session);
  const origin = { ...deviceOf(caller.userAgent), knownDevice, network: shownNetwork(caller.address) };
  const session = { sessionHash: sha256(sessionCookie), userId, passwordHash, earlierHash, ...origin };
  // Last, so that there is a session only if its cookie is handed out.
  const isValid = await insertSession(db, session, caller);
  if (!isValid) return { outcome: 'wrong' };
  const own = { user: { userId }, sessionHash: session.sessionHash };
  const seenCookie = knownDevice ? null : rememberSession(own, cookies.seen);
  return { outcome: 'signed_in', sessionCookie, deviceCookie, seenCookie };
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
  preLoginCookie: string | null,
): SignInStep {
  const { owner, newCookie } = preLoginSession(context, preLoginCookie);
  const formToken = signForm(context, signInForm(owner, authorizationRequest));
  return { step: 'sign-in', authorizationRequest, formToken, newCookie };
}

function signInForm(owner: FormOwner, authorizationRequest: AuthorizationRequest | null): Form {
  return { action: 'sign-in', owner, subject: [authorizationRequest?.canonicalQuery ?? null] };
}
