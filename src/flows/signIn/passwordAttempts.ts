import type pg from 'pg';
import type { Caller } from '../../rules/common/caller.ts';
import { rateLimitNetworkOf } from '../../rules/common/network.ts';
import { isOwn, readHash } from '../../secrets/foreignHash.js';
import { hashPassword, type QueueTicket, requireRoom, verifyPassword } from '../../secrets/password.ts';
import { emit } from '../../signals/events.ts';
import { findForeignDecoyHash, renewHash } from '../../store/account/passwords.ts';
import { recordGuessing } from '../../store/account/throttles.ts';
import type { User } from '../../store/common/users.ts';
import type { Context } from '../common/context.ts';
import { countersOf, recordAttempt, takeBackAttempt } from './attemptCounters.ts';
import { knownDevice, newDeviceCookie, type PasswordKind } from './device.ts';

export interface Attempt {
  readonly passwordKind: PasswordKind;
  /** Normalized, even if it doesn't exist. */
  readonly login: string;
  readonly password: string;
  /** This browser's; null for none. */
  readonly deviceCookie: string | null;
  /** True to hash a right password anew if its hash is another service's. */
  readonly renews?: true;
}

/** The password's user. Without a hash, or while the user is blocked, every password is wrong. */
interface PasswordOwner extends Pick<User, 'userId' | 'status'> {
  readonly passwordHash: string | null;
}

export type FailedAttempt =
  /** `unreadableOf`: the user whose stored hash can't be read. */
  | { readonly outcome: 'wrong'; readonly unreadableOf?: string | null }
  | { readonly outcome: 'wait'; readonly waitSeconds: number };

const GUESSED = { password: 'password_guessed', 'payment password': 'payment_password_guessed' } as const;

/**
 * Attempts a password, unless throttled. Many wrong attempts are recorded in the audit trail.
 * @returns for a right one its hash as stored now, whether this device knew it before, and its new cookie; the user of a hash
 * that can't be read
 * @throws {OverloadedError} if too many passwords are being checked: then the attempt does not count
 */
export async function attemptPassword(
  context: Context,
  attempt: Attempt,
  caller: Caller,
  findAccount: () => Promise<PasswordOwner | null>,
) {
  const { passwordKind, login, deviceCookie } = attempt;
  const findHash = async () => (await findAccount())?.passwordHash ?? null;
  const device = await knownDevice(context, passwordKind, login, deviceCookie, findHash);
  const network = rateLimitNetworkOf(caller.address);
  // Only signed-in users type a payment password.
  const isKnown = device !== null || passwordKind === 'payment password';
  const queue = isKnown ? 'known' : 'stranger';
  const ticket: QueueTicket = { queue, key: isKnown ? login : network, until: caller.decideBy };
  requireRoom(ticket);
  const counters = countersOf(context, passwordKind, login, network, device);
  const { waitSeconds, waitsFor, slotToReport } = await recordAttempt(context.db, counters);
  if (waitsFor !== null) {
    emit('throttle', waitsFor);
    return { outcome: 'wait', waitSeconds } as const;
  }
  const { userId, matchedHash, isUnreadable } = await check(context, attempt, ticket, findAccount).catch(
    async (error: unknown) => {
      await takeBackAttempt(context.db, { counters, right: false });
      throw error;
    },
  );
  if (userId === null || matchedHash === null) {
    // A network's counter is of all its users.
    const slots = counters.attempt.flatMap(({ kind, slot }) => (kind === 'network' ? [] : slot));
    const kind = GUESSED[passwordKind];
    if (slotToReport !== null)
      await recordGuessing(context.db, { slot: slotToReport, slots, kind, userId, ...caller });
    return { outcome: 'wrong', ...(isUnreadable && { unreadableOf: userId }) } as const;
  }
  await takeBackAttempt(context.db, { counters, right: true });
  const newCookie = newDeviceCookie(context, passwordKind, login, matchedHash, deviceCookie);
  const known = { knownDevice: device !== null, deviceCookie: newCookie };
  return { outcome: 'right', userId, passwordHash: matchedHash, ...known } as const;
}

/** Compares a password. @returns the login's user and, if it is right, the hash that is stored then */
async function check(
  context: Context,
  { passwordKind, login, password, renews }: Attempt,
  ticket: QueueTicket,
  findAccount: () => Promise<PasswordOwner | null>,
) {
  const [account, decoy] = await Promise.all([findAccount(), foreignDecoy(context, login)]);
  const userId = account?.userId ?? null;
  const hash = account?.status === 'active' ? account.passwordHash : null;
  const matches = await verifyPassword(hash, password, ticket, decoy);
  if (userId === null || hash === null || !matches)
    return { userId, matchedHash: null, isUnreadable: hash !== null && matches === null };
  const matchedHash = renews
    ? await renewed(context, { userId, passwordKind, hash }, password, ticket)
    : hash;
  return { userId, matchedHash, isUnreadable: false };
}

/**
 * Hashes a right password anew, unless the hash is ours. If its row changed meanwhile, perhaps by another sign-in, the password
 * is checked again. @returns the hash that is stored then; null if the password is wrong now
 */
async function renewed(
  { db }: Context,
  of: Record<'userId' | 'passwordKind' | 'hash', string>,
  password: string,
  ticket: QueueTicket,
): Promise<string | null> {
  // What follows the first 72 bytes, bcrypt has not compared.
  const { comparedBytes } = { comparedBytes: 0, ...readHash(of.hash) };
  if (isOwn(of.hash) || Buffer.byteLength(password) > comparedBytes) return of.hash;
  const newHash = await hashPassword(password);
  const stored = (await renewHash(db, { newHash, ...of }))?.hash ?? null;
  return stored === newHash || (await verifyPassword(stored, password, ticket)) ? stored : null;
}

/** Foreign hashes are looked for at each attempt while there are any, otherwise once a minute. */
const LOOKED_FOR_EVERY_MS = 60_000;
const nextLook = new WeakMap<pg.Pool, number>();

/** Another service's hash to compare in vain, the same each time for one login; null for none. */
async function foreignDecoy({ db, keyRing }: Context, login: string): Promise<string | null> {
  if (performance.now() < (nextLook.get(db) ?? 0)) return null;
  const digest = keyRing.slotDigest(JSON.stringify(['decoy', login]));
  const at = digest.toString(16).padStart(8, '0').padEnd(32, '0');
  const found = await findForeignDecoyHash(db, { at });
  if (found === null) nextLook.set(db, performance.now() + LOOKED_FOR_EVERY_MS);
  return found?.hash ?? null;
}
