import { isIPv4 } from 'node:net';
import { sha256 } from '../secrets/digest.ts';
import { transaction } from '../store/database.ts';
import { holdThrottles, markThrottles, type Throttle } from '../store/throttles.ts';
import type { Caller, Context } from './context.ts';

// Guessing passwords. A try is counted before the password is looked at, so that a hundred tries at once are a
// hundred tries; a right one is taken back. Whoever has tried too often waits, each time twice as long. What is told
// to wait is not counted: hammering at the door does not keep it shut.

const SECOND_MS = 1000;
const DAY_MS = 24 * 60 * 60 * SECOND_MS;

/** How a counter answers tries. */
export interface Policy {
  /** Tries without waiting; after as many, 1 s, then 2, 4, 8, … */
  readonly free: number;
  /** One try is forgotten in this time. */
  readonly forgetsSeconds: number;
  /** No wait is longer. */
  readonly longestSeconds: number;
}

/** One person, or somebody who guesses at one login from one place. */
const OWN: Policy = { free: 5, forgetsSeconds: 600, longestSeconds: 900 };
/** Many places that guess at one login: a stranger can cause this wait, so it stays short. */
const LOGIN: Policy = { free: 20, forgetsSeconds: 60, longestSeconds: 30 };
/** One place that guesses at many logins: there may be a thousand honest people behind it. */
const NETWORK: Policy = { free: 1000, forgetsSeconds: 1, longestSeconds: 30 };

/** Where somebody has signed in, what strangers do elsewhere, or beside them, holds them up no more. */
const TRUST_MS = 90 * DAY_MS;

/** What is guessed at; each has counters of its own. */
export type Guarded = 'password' | 'payment password';

/** A try that may be made, to be taken back by {@link forgive} when it is right; or how long to wait first. */
export type Try = { readonly keys: Keys } | { readonly waitSeconds: number };

/** The counters of one try. What is typed as a login may be a password: only a digest is kept. */
interface Keys {
  readonly own: Buffer;
  readonly login: Buffer;
  readonly network: Buffer;
}

/**
 * Asks to try a password, known login or not.
 *
 * @param login in the one spelling that counters are kept under
 */
export async function takeTry(
  { db }: Context,
  guarded: Guarded,
  login: string,
  { address }: Caller,
): Promise<Try> {
  const keys = keysOf(guarded, login, networkOf(address));
  return transaction(db, async (connection) => {
    const { throttles, now } = await holdThrottles(connection, sorted(keys));
    const waitSeconds = waitOf(throttles, keys, now);
    if (waitSeconds > 0) return { waitSeconds };
    await markThrottles(
      connection,
      throttles.map((throttle) => count(throttle, policyOf(throttle, keys), now)),
    );
    return { keys };
  });
}

/** Takes a try back that was right: its own counter begins anew, and the place is known from now on. */
export async function forgive({ db }: Context, keys: Keys): Promise<void> {
  await transaction(db, async (connection) => {
    const { throttles, now } = await holdThrottles(connection, sorted(keys));
    const forgiven = throttles.map((throttle) => ({
      ...throttle,
      level: throttle.key.equals(keys.own) ? 0 : Math.max(0, throttle.level - 1),
      freeAt: now,
      ...(throttle.key.equals(keys.own) ? trust(now) : {}),
    }));
    await markThrottles(connection, forgiven);
  });
}

function trust(now: Date): Pick<Throttle, 'trustedUntil' | 'forgetAt'> {
  const until = after(now, TRUST_MS);
  return { trustedUntil: until, forgetAt: until };
}

/** How long until every counter that has a say lets a try through, in whole seconds; 0 for now. */
function waitOf(throttles: readonly Throttle[], keys: Keys, now: Date): number {
  const isOwn = ({ key }: Throttle) => key.equals(keys.own);
  const trusted = throttles.some((throttle) => isOwn(throttle) && throttle.trustedUntil > now);
  const heeded = throttles.filter((throttle) => !trusted || isOwn(throttle));
  const waits = heeded.map((throttle) => {
    const seconds = Math.ceil((throttle.freeAt.getTime() - now.getTime()) / SECOND_MS);
    // More than the policy gives is a clock that was set back: nobody is to wait for that.
    return seconds > policyOf(throttle, keys).longestSeconds ? 0 : seconds;
  });
  return Math.max(0, ...waits);
}

/** The counter after one more try. */
export function count(throttle: Throttle, policy: Policy, now: Date): Throttle {
  const forgotten = (now.getTime() - throttle.countedAt.getTime()) / SECOND_MS / policy.forgetsSeconds;
  const level = Math.max(0, throttle.level - Math.max(0, forgotten)) + 1;
  const steps = Math.round(level) - policy.free;
  const waitMs = steps < 0 ? 0 : Math.min(2 ** steps, policy.longestSeconds) * SECOND_MS;
  const untilForgotten = after(now, waitMs + level * policy.forgetsSeconds * SECOND_MS);
  return {
    ...throttle,
    level,
    countedAt: now,
    freeAt: after(now, waitMs),
    forgetAt: untilForgotten > throttle.trustedUntil ? untilForgotten : throttle.trustedUntil,
  };
}

function policyOf({ key }: Throttle, { own, login }: Keys): Policy {
  if (key.equals(own)) return OWN;
  return key.equals(login) ? LOGIN : NETWORK;
}

function keysOf(guarded: Guarded, login: string, network: string): Keys {
  const key = (...parts: (string | null)[]) => sha256(JSON.stringify([guarded, ...parts]));
  return { own: key(login, network), login: key(login, null), network: key(null, network) };
}

function sorted({ own, login, network }: Keys): Buffer[] {
  return [own, login, network].sort(Buffer.compare);
}

function after(time: Date, milliseconds: number): Date {
  return new Date(time.getTime() + milliseconds);
}

/** One subscriber's network: an IPv4 address, or the first 48 bits of an IPv6 address, which one subscriber may have all of. */
export function networkOf(address: string): string {
  if (isIPv4(address) || !address.includes(':')) return address;
  const [head = ''] = address.split('::', 1);
  const groups = [...head.split(':'), '', '', ''].slice(0, 3);
  return groups.map((group) => Number.parseInt(group || '0', 16).toString(16)).join(':');
}
