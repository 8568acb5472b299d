import { loginKey } from '../../rules/account/loginKey.ts';
import { passwordProblem } from '../../rules/account/registration.ts';
import type { Caller } from '../../rules/common/caller.ts';
import { sha256 } from '../../secrets/digest.ts';
import { hashPassword } from '../../secrets/password.ts';
import { replacePassword } from '../../store/account/passwords.ts';
import { findUser, type UserWithPasswords } from '../../store/common/users.ts';
import type { Context } from '../common/context.ts';
import { bindForm, signForm, verifyForm } from '../common/signedForm.ts';
import { newDeviceCookie, type PasswordKind } from '../signIn/device.ts';
import { attemptPassword } from '../signIn/passwordAttempts.ts';
import type { Session } from '../signIn/session.ts';

interface SentPasswordChange {
  readonly kind: PasswordKind;
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly formToken: string | undefined;
  /** This browser's, by the password that they are for; null for none. */
  readonly deviceCookies: Readonly<Record<PasswordKind, string | null>>;
}

const KINDS = {
  password: { other: 'payment password', hash: 'passwordHash', audit: 'password_changed' },
  'payment password': { other: 'password', hash: 'paymentPasswordHash', audit: 'payment_password_changed' },
} as const;

/**
 * The token of the form that changes a password, and the password to type in it: `password` also for a first payment password.
 * @returns null for a deleted user, and for a password that the provider keeps
 */
export async function findPasswordForm(context: Context, session: Session, kind: PasswordKind) {
  const user = await findUser(context.db, session.user.userId);
  if (user === null || (context.provider !== null && currentKindOf(user, kind) === 'password')) return null;
  const formToken = signForm(context, changeForm(session, user, kind));
  return { kind, currentKind: currentKindOf(user, kind), formToken };
}

/**
 * Changes a password after typing the old one, or sets a payment password after the password. Attempts are counted.
 * Ends every other session of the user, and gives a new device cookie of its kind. @throws {OverloadedError}
 * @returns `refused`: the new password is unacceptable; `stale`: a password has changed since, or the session is over
 */
export async function changePassword(
  context: Context,
  session: Session,
  sent: SentPasswordChange,
  caller: Caller,
) {
  const { kind } = sent;
  const { other } = KINDS[kind];
  const user = await findUser(context.db, session.user.userId);
  if (user === null || verifyForm(context, sent.formToken, changeForm(session, user, kind)) === null)
    return { outcome: 'stale' } as const;
  const currentKind = currentKindOf(user, kind);
  const problem = await problemOf(context, user, currentKind, sent);
  if (problem !== null) return { outcome: 'refused', problem } as const;
  const attempt = (passwordKind: PasswordKind, password: string) => {
    const [login, deviceCookie] = [loginOf(user, passwordKind), sent.deviceCookies[passwordKind]];
    // As of the form's check: a second click is no wrong attempt, but finds its change done.
    const account = { ...user, passwordHash: user[KINDS[passwordKind].hash] };
    return attemptPassword(
      context,
      { passwordKind, login, password, deviceCookie },
      caller,
      async () => account,
    );
  };
  const result = await attempt(currentKind, sent.currentPassword);
  if (result.outcome !== 'right') return result;
  // An attempt at the other password, since the response reveals it. If throttled, it doesn't block this change. For a first
  // payment password the other one was typed as the old one.
  if (user[KINDS[other].hash] !== null && currentKind !== other) {
    const { outcome } = await attempt(other, sent.newPassword);
    if (outcome === 'right') return { outcome: 'refused', problem: 'same_as_other' } as const;
  }
  const newHash = await hashPassword(sent.newPassword);
  const change = { ...user, sessionHash: session.sessionHash, kind: KINDS[kind].audit, newHash, ...caller };
  if (!(await replacePassword(context.db, change))) return { outcome: 'stale' } as const;
  const deviceCookie = newDeviceCookie(context, kind, loginOf(user, kind), newHash, sent.deviceCookies[kind]);
  return { outcome: 'changed', deviceCookie } as const;
}

async function problemOf(
  { brand, baseUrl }: Context,
  user: UserWithPasswords,
  currentKind: PasswordKind,
  { kind, currentPassword, newPassword }: SentPasswordChange,
) {
  const problem = passwordProblem(newPassword);
  if (problem !== null) return problem;
  // The passwords must differ: knowing one must not reveal the other. They are compared under NFKC.
  if (currentPassword.normalize('NFKC') === newPassword.normalize('NFKC'))
    return currentKind === kind ? 'same_as_old' : 'same_as_other';
  // Loaded lazily: the list takes 15 MB.
  const { isCommonPassword, isOwnName } = await import('../../rules/account/commonPassword.ts');
  if (isCommonPassword(newPassword)) return 'too_common';
  const names = [user.login, user.name, ...Object.values(brand.name), new URL(baseUrl).hostname];
  return isOwnName(newPassword, names) ? 'own_name' : null;
}

function currentKindOf(user: UserWithPasswords, kind: PasswordKind): PasswordKind {
  return user.paymentPasswordHash === null ? 'password' : kind;
}

/** The name for counting attempts at this password, as at sign-in and for payments. */
function loginOf(user: UserWithPasswords, kind: PasswordKind): string {
  return kind === 'password' ? loginKey(user.login) : user.userId;
}

/** Valid until a password of the user changes. */
function changeForm(session: Session, user: UserWithPasswords, kind: PasswordKind) {
  const hashes = sha256(JSON.stringify([user.passwordHash, user.paymentPasswordHash]));
  return bindForm('change-password', session, kind, hashes);
}
