import { loginKey } from '../../rules/account/loginKey.ts';
import type { Caller } from '../../rules/common/caller.ts';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { findUserByKey } from '../../store/common/users.ts';
import type { Context } from '../common/context.ts';
import { bindForm, signForm, verifyForm } from '../common/signedForm.ts';
import { attemptPassword } from './passwordAttempts.ts';
import { openSession, preLoginSession, type SentCookies } from './session.ts';

interface SubmittedSignIn {
  readonly formToken: string | undefined;
  /** The request to continue after signing in; null for the account page. */
  readonly authorizationRequest: AuthorizationRequest | null;
  readonly login: string;
  readonly password: string;
}

/**
 * Signs a user in (contract 5.1). An unknown login, a wrong password and a blocked user get one answer after the same work.
 * @returns `stale` for a form not shown to this browser for this request; else new cookies @throws {OverloadedError}
 */
export async function signIn(context: Context, sent: SubmittedSignIn, cookies: SentCookies, caller: Caller) {
  const { owner } = preLoginSession(context, cookies.preLogin);
  const form = bindForm('sign-in', owner, sent.authorizationRequest?.canonicalQuery ?? null);
  if (verifyForm(context, sent.formToken, form) === null) return { outcome: 'stale' } as const;
  const login = loginKey(sent.login);
  const given = { login, password: sent.password, deviceCookie: cookies.device };
  const attempt = { passwordKind: 'password', ...given, renews: true } as const;
  const find = () => findUserByKey(context.db, { key: login });
  const result = await attemptPassword(context, attempt, caller, find);
  if (result.outcome !== 'right') return result;
  const { userId, passwordHash, knownDevice, deviceCookie } = result;
  const proof = { userId, passwordHash, externalId: null, knownDevice };
  const opened = await openSession(context, proof, cookies, caller);
  if (opened === null) return { outcome: 'wrong' } as const;
  return { outcome: 'signed_in', deviceCookie, ...opened } as const;
}

/** The sign-in page before a request or, if that is null, before the account page. */
export interface SignInStep {
  readonly step: 'sign-in';
  readonly authorizationRequest: AuthorizationRequest | null;
  readonly formToken: string;
  /** The pre-login cookie to set; null if the browser has one. */
  readonly newCookie: string | null;
}

export function signInStep(
  context: Context,
  authorizationRequest: AuthorizationRequest | null,
  preLoginCookie: string | null,
): SignInStep {
  const { owner, newCookie } = preLoginSession(context, preLoginCookie);
  const form = bindForm('sign-in', owner, authorizationRequest?.canonicalQuery ?? null);
  return { step: 'sign-in', authorizationRequest, formToken: signForm(context, form), newCookie };
}
