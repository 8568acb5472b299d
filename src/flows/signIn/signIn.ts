import { loginKey } from '../../rules/account/loginKey.ts';
import { deviceOf } from '../../rules/account/userAgent.ts';
import type { Caller } from '../../rules/common/caller.ts';
import { shownNetwork } from '../../rules/common/network.ts';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { sha256 } from '../../secrets/digest.ts';
import { randomSecret } from '../../secrets/random.ts';
import { telling } from '../../signals/happenings.ts';
import { insertSession } from '../../store/common/sessions.ts';
import { findUserByKey } from '../../store/common/users.ts';
import type { Context } from '../common/context.ts';
import { type Form, type FormOwner, signForm, verifyForm } from '../common/signedForm.ts';
import { attemptPassword } from './passwordAttempts.ts';
import { rememberSession } from './seenWarnings.ts';
import { keepLanguage, preLoginSession } from './session.ts';

export interface SentSignIn {
  readonly formToken: string | undefined;
  /** The request to continue after signing in; null for the account page. */
  readonly authorizationRequest: AuthorizationRequest | null;
  readonly login: string;
  readonly password: string;
}

/** A sign-in's cookies, null for none: session (which ends), pre-login session, device, seen, language chosen there. */
export type SentCookies = Readonly<
  Record<'session' | 'preLogin' | 'device' | 'seen' | 'language', string | null>
>;

/**
 * Signs a user in (contract 5.1). Unknown login, wrong password and blocked user give one response after the same work.
 * @returns `stale` for a form not shown to this browser for this request; values of new cookies, and the language that the
 * user chose elsewhere @throws {BusyError}
 */
export const signIn = telling(
  'signIn',
  async (context: Context, sent: SentSignIn, cookies: SentCookies, caller: Caller) => {
    const { owner } = preLoginSession(context, cookies.preLogin);
    const form = signInForm(owner, sent.authorizationRequest);
    if (verifyForm(context, sent.formToken, form) === null) return { outcome: 'stale' } as const;
    const { db } = context;
    const { password } = sent;
    const login = loginKey(sent.login);
    const attempt = { guarded: 'password', login, password, deviceCookie: cookies.device } as const;
    const result = await attemptPassword(context, attempt, caller, () => findUserByKey(db, { key: login }));
    if (result.outcome !== 'right') return result;
    const { userId, passwordHash, knownDevice, deviceCookie } = result;
    const sessionCookie = randomSecret().toString('base64url');
    const sessionHash = sha256(sessionCookie);
    const earlierHash = cookies.session === null ? null : sha256(cookies.session);
    const origin = { ...deviceOf(caller.userAgent), knownDevice, network: shownNetwork(caller.address) };
    // Last: there is a session only if its cookie is delivered.
    const session = { sessionHash, userId, passwordHash, earlierHash, ...origin };
    const { valid, language: kept } = await insertSession(db, { ...session, ...caller });
    if (!valid) return { outcome: 'wrong' } as const;
    const { language: chosen } = cookies;
    // Another user of this browser may have chosen it: it never replaces a kept one.
    if (chosen !== null && kept === null) await keepLanguage(context, { userId }, chosen);
    const own = { user: { userId }, sessionHash };
    const seenCookie = knownDevice ? null : rememberSession(own, cookies.seen);
    const language = chosen === null ? kept : null;
    return { outcome: 'signed_in', sessionCookie, deviceCookie, seenCookie, language } as const;
  },
);

/** The sign-in page before a request or, if that is null, before the account page. */
export type SignInStep = ReturnType<typeof signInStep>;

/** The sign-in page for a browser with this pre-login cookie; `newCookie` is the one to set, null if it has one. */
export function signInStep(
  context: Context,
  authorizationRequest: AuthorizationRequest | null,
  preLoginCookie: string | null,
) {
  const { owner, newCookie } = preLoginSession(context, preLoginCookie);
  const formToken = signForm(context, signInForm(owner, authorizationRequest));
  return { step: 'sign-in', authorizationRequest, formToken, newCookie } as const;
}

function signInForm(owner: FormOwner, authorizationRequest: AuthorizationRequest | null): Form {
  return { action: 'sign-in', owner, subject: [authorizationRequest?.canonicalQuery ?? null] };
}
