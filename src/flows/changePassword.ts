import type { Caller } from '../rules/caller.ts';
import { loginKey } from '../rules/loginKey.ts';
import { type PasswordProblem, passwordProblem } from '../rules/registration.ts';
import { sha256 } from '../secrets/digest.ts';
import { hashPassword } from '../secrets/password.ts';
import { changePasswords } from '../store/passwordChanges.ts';
import { findUserByLogin, type UserWithPasswords } from '../store/users.ts';
import type { Context } from './context.ts';
import { type Guarded, newDeviceCookie } from './device.ts';
import { type AttemptOutcome, attemptPassword, type FailedAttempt } from './passwordAttempts.ts';
import type { Session } from './session.ts';
import { type Form, signForm, verifyForm } from './signedForm.ts';

/** A form that changes a password: which one has to be typed, and the token. */
export interface PasswordForm {
  /** `password` also for a payment password where there is none yet. */
  readonly asked: Guarded;
  readonly formToken: string;
}

/** What the form holds, and the device cookies of this browser, null for none. */
export interface SentPasswordChange {
  readonly which: Guarded;
  /** The one that is asked, as typed. */
  readonly old: string;
  readonly new: string;
  readonly formToken: string | undefined;
  readonly deviceCookies: Readonly<Record<Guarded, string | null>>;
}

/** What comes of changing a password. */
export type PasswordChangeOutcome =
  /** Every other session of the user is over. With the new device cookie, of the kind that belongs to `which`. */
  | { readonly outcome: 'changed'; readonly deviceCookie: string }
  /** The new one can't be taken; nothing was counted as an attempt. */
  | { readonly outcome: 'refused'; readonly problem: PasswordProblem | NotNew }
  /** The form does not fit any more: a password was changed since, or the session is over. */
  | { readonly outcome: 'stale' }
  | FailedAttempt;

/** Why a password that could be taken is not taken from its user. */
type NotNew =
  | 'same_as_old'
  /** The two passwords have to differ: who knows one has not the other then. */
  | 'same_as_password'
  | 'same_as_payment_password'
  /** Everybody who guesses tries it first. */
  | 'too_common'
  /** It is the login, the user's name, or the name of this service. */
  | 'own_name';

/** The forms of the user's passwords; null when the user is gone. */
export async function findPasswordForms(
  context: Context,
  session: Session,
): Promise<Readonly<Record<Guarded, PasswordForm>> | null> {
  const user = await findSelf(context, session);
  if (user === null) return null;
  const formOf = (which: Guarded) => ({
    asked: askedFor(user, which),
    formToken: signForm(context, changeForm(session, user, which)),
  });
  return { password: formOf('password'), 'payment password': formOf('payment password') };
}

/**
 * The user changes a password, knowing the old one. Attempts at it are counted as those at sign-in, or at the payment
 * password, are. Who has no payment password sets one by the password.
 *
 * @throws {BusyError} when too many passwords are being checked
 * @throws {TooLateError}
 */
export async function changePassword(
  context: Context,
  session: Session,
  sent: SentPasswordChange,
  caller: Caller,
): Promise<PasswordChangeOutcome> {
  const { which } = sent;
  const user = await findSelf(context, session);
  if (user === null || verifyForm(context, sent.formToken, changeForm(session, user, which)) === null) {
    return { outcome: 'stale' };
  }
  const problem = await problemOf(context, user, sent);
  if (problem !== null) return { outcome: 'refused', problem };
  const asked = askedFor(user, which);
  const deviceCookie = sent.deviceCookies[asked];
  const attempt = { guarded: asked, login: loginOf(user, asked), password: sent.old, deviceCookie };
  // As it was when the form was checked: a second click is no wrong attempt, but finds its change done.
  const account = { ...user, passwordHash: hashOf(user, asked) };
  const result = await attemptPassword(context, attempt, caller, async () => account);
  if (result.outcome !== 'right') return result;
  // Where that one has to wait nothing is compared: who guesses at it must not keep the user from changing this one.
  const other = await attemptOther(context, user, sent, caller);
  if (other.outcome === 'right') return { outcome: 'refused', problem: SAME_AS[OTHER[which]] };
  const hash = await hashPassword(sent.new);
  if (!(await write(context, session, user, which, hash, caller))) return { outcome: 'stale' };
  const login = loginOf(user, which);
  return {
    outcome: 'changed',
    deviceCookie: newDeviceCookie(context, which, login, hash, sent.deviceCookies[which]),
  };
}

/** What is wrong with the new password as it is typed. */
async function problemOf(
  { brand, baseUrl }: Context,
  user: UserWithPasswords,
  { which, ...sent }: SentPasswordChange,
) {
  const problem = passwordProblem(sent.new);
  if (problem !== null) return problem;
  if (isSame(sent.old, sent.new)) {
    return askedFor(user, which) === which ? 'same_as_old' : 'same_as_password';
  }
  // Its list takes 15 MB: not before somebody changes a password.
  const { isCommonPassword, isOwnName } = await import('../rules/commonPassword.ts');
  if (isCommonPassword(sent.new)) return 'too_common';
  const names = [user.login, user.name, ...Object.values(brand.name), new URL(baseUrl).hostname];
  return isOwnName(sent.new, names) ? 'own_name' : null;
}

const OTHER = { password: 'payment password', 'payment password': 'password' } as const;
const SAME_AS = { password: 'same_as_password', 'payment password': 'same_as_payment_password' } as const;

/**
 * Whether the new password is the user's other one. Who knows one could guess at the other so: it is an attempt at that one,
 * and counts as such.
 */
async function attemptOther(
  context: Context,
  user: UserWithPasswords,
  { which, new: password, deviceCookies }: SentPasswordChange,
  caller: Caller,
): Promise<AttemptOutcome> {
  const guarded = OTHER[which];
  const passwordHash = hashOf(user, guarded);
  // A first payment password: the other one is what was typed as the old one.
  if (passwordHash === null || askedFor(user, which) === guarded) return { outcome: 'wrong' };
  const attempt = { guarded, login: loginOf(user, guarded), password, deviceCookie: deviceCookies[guarded] };
  return attemptPassword(context, attempt, caller, async () => ({ ...user, passwordHash }));
}

function write(
  { db }: Context,
  { sessionHash }: Session,
  { userId, passwordHash, paymentPasswordHash }: UserWithPasswords,
  which: Guarded,
  hash: string,
  caller: Caller,
): Promise<boolean> {
  const earlier = { passwordHash, paymentPasswordHash };
  const isPayment = which === 'payment password';
  const changed = { ...earlier, ...(isPayment ? { paymentPasswordHash: hash } : { passwordHash: hash }) };
  const kind = isPayment ? 'payment_password_changed' : 'password_changed';
  return changePasswords(db, { userId, sessionHash, earlier, changed, kind }, caller);
}

/** The user of a session, with the stored hashes; null when the user was deleted. */
async function findSelf({ db }: Context, { user }: Session): Promise<UserWithPasswords | null> {
  const found = await findUserByLogin(db, user.login);
  return found?.userId === user.userId ? found : null;
}

function askedFor(user: UserWithPasswords, which: Guarded): Guarded {
  return user.paymentPasswordHash === null ? 'password' : which;
}

function hashOf(user: UserWithPasswords, which: Guarded): string | null {
  return which === 'password' ? user.passwordHash : user.paymentPasswordHash;
}

/** What attempts at this password are counted by: as at sign-in, and at the payment password. */
function loginOf(user: UserWithPasswords, which: Guarded): string {
  return which === 'password' ? loginKey(user.login) : user.userId;
}

/** It fits as long as the user's passwords are what they are. */
function changeForm(session: Session, user: UserWithPasswords, which: Guarded): Form {
  const hashes = sha256(JSON.stringify([user.passwordHash, user.paymentPasswordHash]));
  return { action: 'change-password', owner: session, subject: [which, hashes] };
}

/** As passwords are compared. */
function isSame(old: string, changed: string): boolean {
  return old.normalize('NFKC') === changed.normalize('NFKC');
}
