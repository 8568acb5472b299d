import type { Caller } from '../rules/caller.ts';
import { networkOf } from '../rules/network.ts';
import { requirePlace, type Turn, verifyPassword } from '../secrets/password.ts';
import { tell } from '../signals/happenings.ts';
import { recordGuessing } from '../store/throttles.ts';
import type { User } from '../store/users.ts';
import { countersOf, recordAttempt, takeBackAttempt } from './attemptCounters.ts';
import type { Context } from './context.ts';
import { type Guarded, knownDevice, newDeviceCookie } from './device.ts';

/** An attempt at a password. */
export interface Attempt {
  readonly guarded: Guarded;
  /** In its normal form, whether it exists or not. */
  readonly login: string;
  /** As typed. */
  readonly password: string;
  /** The device cookie that the browser sent; null for none. */
  readonly deviceCookie: string | null;
}

/** Whose password it is; without a hash, or while the user is blocked, every password is wrong. */
export interface Account extends Pick<User, 'userId' | 'status'> {
  readonly passwordHash: string | null;
}

/** What comes of an attempt. */
export type AttemptOutcome =
  /** With the hash that the password was checked against, whether this device knew it before, and the new device cookie. */
  | {
      readonly outcome: 'right';
      readonly knownDevice: boolean;
      readonly userId: string;
      readonly passwordHash: string;
      readonly deviceCookie: string;
    }
  | FailedAttempt;

export type FailedAttempt =
  | { readonly outcome: 'wrong' }
  | { readonly outcome: 'wait'; readonly waitSeconds: number };

const GUESSED = { password: 'password_guessed', 'payment password': 'payment_password_guessed' } as const;

/**
 * Makes an attempt at a password, unless it has to wait. Many wrong ones are recorded in the audit trail.
 *
 * @param findAccount of the login; null when there is none
 * @throws {BusyError} when too many passwords are being checked: then the attempt does not count
 */
export async function attemptPassword(
  context: Context,
  attempt: Attempt,
  caller: Caller,
  findAccount: () => Promise<Account | null>,
): Promise<AttemptOutcome> {
  const { guarded, login, deviceCookie } = attempt;
  const findHash = async () => (await findAccount())?.passwordHash ?? null;
  const device = await knownDevice(context, guarded, login, deviceCookie, findHash);
  const turn = turnOf(attempt, caller, device);
  requirePlace(turn);
  const counters = countersOf(context, guarded, login, networkOf(caller.address), device);
  const { waitSeconds, waitsFor, slotToReport } = await recordAttempt(context.db, counters);
  if (waitsFor !== null) {
    tell('throttle', waitsFor);
    return { outcome: 'wait', waitSeconds };
  }
  const { userId, right } = await check(attempt.password, turn, findAccount).catch(async (error: unknown) => {
    await takeBackAttempt(context.db, { counters, right: false });
    throw error;
  });
  if (userId === null || right === null) {
    if (slotToReport !== null)
      await recordGuessing(context.db, slotToReport, GUESSED[guarded], userId, caller);
    return { outcome: 'wrong' };
  }
  await takeBackAttempt(context.db, { counters, right: true });
  const newCookie = newDeviceCookie(context, guarded, login, right, deviceCookie);
  return {
    outcome: 'right',
    userId,
    passwordHash: right,
    knownDevice: device !== null,
    deviceCookie: newCookie,
  };
}

/** A payment password is typed by a user who is signed in, so it is never a stranger's. */
function turnOf({ guarded, login }: Attempt, { address, decideBy }: Caller, device: string | null): Turn {
  return device !== null || guarded === 'payment password'
    ? { lane: 'known', share: login, until: decideBy }
    : { lane: 'stranger', share: networkOf(address), until: decideBy };
}

/** Compares a password in its turn. @returns the user of the login and, when it is right, the hash it was compared with */
async function check(password: string, turn: Turn, findAccount: () => Promise<Account | null>) {
  const account = await findAccount();
  const hash = account?.status === 'active' ? account.passwordHash : null;
  const matches = await verifyPassword(hash, password, turn);
  return { userId: account?.userId ?? null, right: matches ? hash : null };
}
