import type pg from 'pg';
import { batched } from '../store/batch.ts';
import { transaction } from '../store/database.ts';
import { findThrottles, lockThrottles, type Throttle, updateThrottles } from '../store/throttles.ts';
import type { Context } from './context.ts';
import type { Guarded } from './device.ts';

// Guessing passwords. A try is counted before the password is looked at, so that a hundred tries at once are a
// hundred tries; one that was right, or was not judged, is taken back. After too many the next has to wait, each time
// twice as long. A try that has to wait is not counted and writes nothing: hammering at the door does not keep it shut.
// A known device (OWASP's device cookie) has a counter of its own, which nobody else can raise.

const SECOND_MS = 1000;

/** How a counter answers tries. */
interface Policy {
  /** Tries without waiting; after as many, 1 s, then 2, 4, 8, … */
  readonly free: number;
  /** One try is forgotten in this time. */
  readonly forgetsSeconds: number;
  /** No wait is longer. */
  readonly longestSeconds: number;
}

/** The counters, and how each answers. */
const POLICIES = {
  /** A known device, at its login. */
  device: { free: 5, forgetsSeconds: 600, longestSeconds: 900 },
  /** A login at a network. */
  place: { free: 5, forgetsSeconds: 600, longestSeconds: 900 },
  /** A login, at all networks: strangers can cause this wait for new devices, so it stays short. */
  login: { free: 20, forgetsSeconds: 60, longestSeconds: 30 },
  /** A network, at all logins: there may be a thousand honest people behind it. */
  network: { free: 1000, forgetsSeconds: 1, longestSeconds: 30 },
  /** Right passwords of a login: each writes a session and a row of the audit trail. */
  right: { free: 1000, forgetsSeconds: 10, longestSeconds: 30 },
} satisfies Record<string, Policy>;

type Kind = keyof typeof POLICIES;

/** Slots of each kind of counter: two counters may share one, and no more rows than these can ever be. */
const SLOTS = 2 ** 18;
const KINDS = Object.keys(POLICIES) as Kind[];

/** One counter: its kind and its place in the table. */
interface Counter {
  readonly kind: Kind;
  readonly slot: number;
}

/** The counters that a try raises, and the one that it raises when it is right. */
export interface Counters {
  readonly tries: readonly Counter[];
  readonly right: Counter;
}

/** Whether a try may be made: how long to wait first, and whether the audit trail should be told if it is wrong. */
export interface Verdict {
  readonly waitSeconds: number;
  /** The slot of the counter by which it should be told; null when it should not. */
  readonly notable: number | null;
}

/** A try that was counted is over: it was right, or it was not judged. */
export interface Settlement {
  readonly counters: Counters;
  readonly right: boolean;
}

/** What a try is counted by. */
interface Tried {
  readonly guarded: Guarded;
  readonly login: string;
  /** The name of the known device that it is made with; undefined for none. */
  readonly device: string | undefined;
  readonly network: string;
}

/** The counters of a try: of its device where that is known, otherwise of the login, of the network, and of both. */
export function countersOf({ keyRing }: Context, { guarded, login, device, network }: Tried): Counters {
  const counter = (kind: Kind, ...names: string[]): Counter => {
    const digest = keyRing.slotDigest(JSON.stringify([guarded, kind, ...names]));
    return { kind, slot: KINDS.indexOf(kind) * SLOTS + (digest % SLOTS) };
  };
  const tries =
    device === undefined
      ? [counter('login', login), counter('place', login, network), counter('network', network)]
      : [counter('device', device)];
  return { tries, right: counter('right', login) };
}

/** Counters as they stand, by slot. */
type Held = Map<number, Throttle>;

/** Counts a try at a password, unless it has to wait. Counted twice after a lost connection it only waits too early. */
export const takeTry = batched(countTries);

/** Takes a try back that was right or not judged. */
export const settleTry = batched(settleTries);

/**
 * Counts tries, any number in one transaction: those that come at once wait for it together, and hold no more
 * than one connection. Those that have to wait are found before anything is written.
 *
 * @returns a verdict for each, in the same order
 */
async function countTries(db: pg.Pool, asked: readonly Counters[]): Promise<Verdict[]> {
  const seen = bySlot(
    await findThrottles(db, slotsOf(asked.flatMap(({ tries, right }) => [...tries, right]))),
  );
  const first = asked.map(({ tries, right }) => take(seen, tries, [...tries, right]));
  const free = asked.filter((_, index) => first[index]?.waitSeconds === 0);
  if (free.length === 0) return first;
  const second = await changeThrottles(db, slotsOf(free.flatMap(({ tries }) => tries)), (held) =>
    free.map(({ tries }) => take(held, tries, tries)),
  );
  return first.map((verdict) => (verdict.waitSeconds > 0 ? verdict : (second.shift() ?? verdict)));
}

/** Takes tries back that were right or not judged. @returns null for each: there is nothing to say */
async function settleTries(db: pg.Pool, settled: readonly Settlement[]): Promise<null[]> {
  const slots = slotsOf(
    settled.flatMap(({ counters, right }) => [...counters.tries, ...(right ? [counters.right] : [])]),
  );
  return changeThrottles(db, slots, (held) =>
    settled.map(({ counters, right }) => {
      for (const { slot, kind } of counters.tries)
        held.set(slot, takeBack(throttleIn(held, slot), POLICIES[kind]));
      if (right) held.set(counters.right.slot, count(throttleIn(held, counters.right.slot), POLICIES.right));
      return null;
    }),
  );
}

/** Locks counters, lets `change` replace some of them, and writes those. */
function changeThrottles<Result>(
  db: pg.Pool,
  slots: number[],
  change: (held: Held) => Result,
): Promise<Result> {
  return transaction(db, async (connection) => {
    const before = await lockThrottles(connection, slots);
    const held = bySlot(before);
    const result = change(held);
    const changed = before.flatMap((throttle) => {
      const after = throttleIn(held, throttle.slot);
      return after === throttle ? [] : [after];
    });
    if (changed.length > 0) await updateThrottles(connection, changed);
    return result;
  });
}

/** Counts a try at `tries`, unless one of `heeded` says to wait. */
function take(held: Held, tries: readonly Counter[], heeded: readonly Counter[]): Verdict {
  const waitSeconds = Math.max(...heeded.map((counter) => waitOf(held, counter)));
  if (waitSeconds > 0) return { waitSeconds, notable: null };
  const counted = tries.map(({ slot, kind }) => count(throttleIn(held, slot), POLICIES[kind]));
  for (const throttle of counted) held.set(throttle.slot, throttle);
  // The first counter is the login's or the device's.
  const mustWait = counted.some(({ freeAt, now }) => freeAt > now);
  return { waitSeconds: 0, notable: mustWait ? (counted[0]?.slot ?? null) : null };
}

/** How long until this counter lets a try through, in whole seconds; 0 for now. */
function waitOf(held: Held, { slot, kind }: Counter): number {
  const { freeAt, now } = throttleIn(held, slot);
  const seconds = Math.ceil((freeAt.getTime() - now.getTime()) / SECOND_MS);
  // More than the policy gives is a clock that was set back: nobody is to wait for that.
  return seconds > POLICIES[kind].longestSeconds ? 0 : Math.max(0, seconds);
}

/** The counter after one more try. */
function count(throttle: Throttle, policy: Policy): Throttle {
  const { now, countedAt } = throttle;
  const forgotten = (now.getTime() - countedAt.getTime()) / SECOND_MS / policy.forgetsSeconds;
  const level = Math.max(0, throttle.level - Math.max(0, forgotten)) + 1;
  return { ...throttle, level, countedAt: now, freeAt: freeAfter(now, level, policy) };
}

/** The counter as if its last try had not been made. */
function takeBack(throttle: Throttle, policy: Policy): Throttle {
  const level = Math.max(0, throttle.level - 1);
  return { ...throttle, level, freeAt: freeAfter(throttle.countedAt, level, policy) };
}

function freeAfter(countedAt: Date, level: number, { free, longestSeconds }: Policy): Date {
  const steps = Math.round(level) - free;
  const waitMs = steps < 0 ? 0 : Math.min(2 ** steps, longestSeconds) * SECOND_MS;
  return new Date(countedAt.getTime() + waitMs);
}

function throttleIn(held: Held, slot: number): Throttle {
  const throttle = held.get(slot);
  if (throttle === undefined) throw new Error(`throttles: the counter in slot ${slot} is not held`);
  return throttle;
}

function bySlot(throttles: readonly Throttle[]): Held {
  return new Map(throttles.map((throttle) => [throttle.slot, throttle]));
}

/** Each slot once, sorted: counters are locked in one order, so that no two transactions wait for each other. */
function slotsOf(counters: readonly Counter[]): number[] {
  return [...new Set(counters.map(({ slot }) => slot))].sort((one, other) => one - other);
}
