import { isIPv4 } from 'node:net';
import type pg from 'pg';
import { hexOf, sha256 } from '../secrets/digest.ts';
import { transaction } from '../store/database.ts';
import { holdThrottles, markThrottles, type Throttle } from '../store/throttles.ts';
import type { Context } from './context.ts';

// Guessing passwords. A try is counted before the password is looked at, so that a hundred tries at once are a
// hundred tries; a right one is taken back. Whoever has tried too often waits, each time twice as long. What is told
// to wait is not counted: hammering at the door does not keep it shut.

const SECOND_MS = 1000;
const DAY_MS = 24 * 60 * 60 * SECOND_MS;

/** How a counter answers tries. */
interface Policy {
  /** Tries without waiting; after as many, 1 s, then 2, 4, 8, … */
  readonly free: number;
  /** One try is forgotten in this time. */
  readonly forgetsSeconds: number;
  /** No wait is longer. */
  readonly longestSeconds: number;
}

/** The counters of one try, and how each answers. */
const POLICIES = {
  /** One person, or somebody who guesses at one login from one place. */
  own: { free: 5, forgetsSeconds: 600, longestSeconds: 900 },
  /** Many places that guess at one login: a stranger can cause this wait, so it stays short. */
  login: { free: 20, forgetsSeconds: 60, longestSeconds: 30 },
  /** One place that guesses at many logins: there may be a thousand honest people behind it. */
  network: { free: 1000, forgetsSeconds: 1, longestSeconds: 30 },
} satisfies Record<string, Policy>;

type Kind = keyof typeof POLICIES;
const KINDS = Object.keys(POLICIES) as Kind[];

/** Where somebody has signed in, what strangers do elsewhere, or beside them, holds them up no more. */
const TRUST_MS = 90 * DAY_MS;

/** What is guessed at; each has counters of its own. */
export type Guarded = 'password' | 'payment password';

/** A try that somebody wants to make. */
export interface TryQuestion {
  readonly guarded: Guarded;
  /** In the one spelling that counters are kept under. Whether anybody has it does not matter. */
  readonly login: string;
  readonly address: string;
}

/** A try that may be made, to be taken back by {@link forgive} when it is right; or how long to wait first. */
export type Try = { readonly keys: Keys } | { readonly waitSeconds: number };

/** Names of the counters. What is typed as a login may be a password: only a digest is kept. */
type Keys = Readonly<Record<Kind, string>>;

type Counters = Map<string, Throttle>;

/**
 * Answers tries, any number in one transaction: those that come at once wait for it together, and hold no more
 * than one connection.
 *
 * @returns an answer for each, in the same order
 */
export async function countTries(db: pg.Pool, questions: readonly TryQuestion[]): Promise<Try[]> {
  const asked = questions.map(keysOf);
  return transaction(db, async (connection) => {
    const { throttles, now } = await holdThrottles(connection, namesIn(asked));
    const counters: Counters = new Map(throttles.map((throttle) => [throttle.key, throttle]));
    const tries = asked.map((keys) => take(counters, keys, now));
    const changed = throttles.flatMap((before) => {
      const after = counters.get(before.key);
      return after === undefined || after === before ? [] : [after];
    });
    if (changed.length > 0) await markThrottles(connection, changed);
    return tries;
  });
}

function take(counters: Counters, keys: Keys, now: Date): Try {
  const waitSeconds = waitOf(counters, keys, now);
  if (waitSeconds > 0) return { waitSeconds };
  for (const kind of KINDS) {
    const counted = count(counterOf(counters, keys[kind]), POLICIES[kind], now);
    counters.set(keys[kind], counted);
  }
  return { keys };
}

/** How long until every counter that has a say lets a try through, in whole seconds; 0 for now. */
function waitOf(counters: Counters, keys: Keys, now: Date): number {
  const trusted = counterOf(counters, keys.own).trustedUntil > now;
  const heeded = trusted ? (['own'] as const) : KINDS;
  const waits = heeded.map((kind) => {
    const { freeAt } = counterOf(counters, keys[kind]);
    const seconds = Math.ceil((freeAt.getTime() - now.getTime()) / SECOND_MS);
    // More than the policy gives is a clock that was set back: nobody is to wait for that.
    return seconds > POLICIES[kind].longestSeconds ? 0 : seconds;
  });
  return Math.max(0, ...waits);
}

function counterOf(counters: Counters, key: string): Throttle {
  const counter = counters.get(key);
  if (counter === undefined) throw new Error(`throttles: the counter ${key} is not held`);
  return counter;
}

/** Takes a try back that was right: its own counter begins anew, and the place is known from now on. */
export async function forgive({ db }: Context, keys: Keys): Promise<void> {
  await transaction(db, async (connection) => {
    const { throttles, now } = await holdThrottles(connection, namesIn([keys]));
    const until = after(now, TRUST_MS);
    const forgiven = throttles.map((throttle) =>
      throttle.key === keys.own
        ? { ...throttle, level: 0, countedAt: now, freeAt: now, trustedUntil: until, forgetAt: until }
        : { ...throttle, level: Math.max(0, throttle.level - 1) },
    );
    await markThrottles(connection, forgiven);
  });
}

/** The counter after one more try. */
function count(throttle: Throttle, policy: Policy, now: Date): Throttle {
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

function keysOf({ guarded, login, address }: TryQuestion): Keys {
  const network = networkOf(address);
  const key = (...parts: (string | null)[]) => hexOf(sha256(JSON.stringify([guarded, ...parts])));
  return { own: key(login, network), login: key(login, null), network: key(null, network) };
}

/** Each name once, sorted: whoever locks counters does so in one order, and nobody waits in a circle. */
function namesIn(asked: readonly Keys[]): string[] {
  return [...new Set(asked.flatMap((keys) => Object.values(keys)))].sort();
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
