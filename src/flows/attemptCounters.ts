import type pg from 'pg';
import { type CounterKind, POLICIES, waitSeconds, withAttempt, withoutAttempt } from '../rules/throttle.ts';
import { batched } from '../store/batch.ts';
import { transaction } from '../store/database.ts';
import { findThrottles, lockThrottles, type Throttle, updateThrottles } from '../store/throttles.ts';
import type { Context } from './context.ts';
import type { Guarded } from './device.ts';

// Counts attempts at passwords by login, network and device. An attempt is counted before the password is checked, so that a
// hundred at once are a hundred; one that was right, or was not checked, is taken back. An attempt that has to wait is not
// counted and writes nothing, so that trying all the time makes no wait longer.

/** A counter: its kind and its row in the table. */
interface Counter {
  readonly kind: CounterKind;
  readonly slot: number;
}

/** The counters that an attempt raises, and the one that it raises when it is right. */
export interface Counters {
  readonly attempt: readonly Counter[];
  readonly right: Counter;
}

/** Slots of each kind: the table never has more rows than these for each of {@link KINDS}. Two counters may share one. */
const SLOTS = 2 ** 18;
const KINDS = Object.keys(POLICIES) as CounterKind[];

/** A known device (OWASP's device cookie) has its own counter, which nobody else can raise. @param device null for none */
export function countersOf(
  { keyRing }: Context,
  guarded: Guarded,
  login: string,
  network: string,
  device: string | null,
): Counters {
  const counter = (kind: CounterKind, ...names: string[]): Counter => {
    const digest = keyRing.slotDigest(JSON.stringify([guarded, kind, ...names]));
    return { kind, slot: KINDS.indexOf(kind) * SLOTS + (digest % SLOTS) };
  };
  const attempt =
    device === null
      ? [counter('login', login), counter('place', login, network), counter('network', network)]
      : [counter('device', device)];
  return { attempt, right: counter('right', login) };
}

/** How long an attempt has to wait; 0 when it was counted. */
interface Recorded {
  readonly waitSeconds: number;
  /** The slot that the audit trail should name if the password is wrong: from here on attempts have to wait. */
  readonly slotToReport: number | null;
}

/** Counts an attempt, unless it has to wait. Counted twice after a lost connection, it only makes a wait begin earlier. */
export const recordAttempt = batched(recordAttempts);

/** Counts attempts, any number in one transaction. Those that have to wait are found before anything is written. */
async function recordAttempts(db: pg.Pool, asked: readonly Counters[]): Promise<Recorded[]> {
  const slots = slotsOf(asked.flatMap(({ attempt, right }) => [...attempt, right]));
  const seen = bySlot(await findThrottles(db, slots));
  const first = asked.map(({ attempt, right }) => record(seen, attempt, [...attempt, right]));
  const free = asked.filter((_, index) => first[index]?.waitSeconds === 0);
  if (free.length === 0) return first;
  const second = await changeThrottles(db, slotsOf(free.flatMap(({ attempt }) => attempt)), (locked) =>
    free.map(({ attempt }) => record(locked, attempt, attempt)),
  );
  return first.map((recorded) => (recorded.waitSeconds > 0 ? recorded : (second.shift() ?? recorded)));
}

/** Counts an attempt at `counters`, unless one of `limiting` says to wait. */
function record(throttles: Throttles, counters: readonly Counter[], limiting: readonly Counter[]): Recorded {
  const wait = Math.max(
    ...limiting.map(({ slot, kind }) => waitSeconds(throttleIn(throttles, slot), POLICIES[kind])),
  );
  if (wait > 0) return { waitSeconds: wait, slotToReport: null };
  for (const counter of counters) change(throttles, counter, withAttempt);
  const mustWait = counters.some(({ slot }) => {
    const { freeAt, now } = throttleIn(throttles, slot);
    return freeAt > now;
  });
  // The first counter is the login's or the device's.
  return { waitSeconds: 0, slotToReport: mustWait ? (counters[0]?.slot ?? null) : null };
}

/** An attempt that was counted: it was right, or it was not checked. */
interface UncountedAttempt {
  readonly counters: Counters;
  readonly right: boolean;
}

/** Takes back an attempt that was right or was not checked. */
export const takeBackAttempt = batched(takeBackAttempts);

/** Takes attempts back, any number in one transaction, and counts those that were right. @returns null for each */
async function takeBackAttempts(db: pg.Pool, attempts: readonly UncountedAttempt[]): Promise<null[]> {
  const slots = slotsOf(
    attempts.flatMap(({ counters, right }) => [...counters.attempt, ...(right ? [counters.right] : [])]),
  );
  return changeThrottles(db, slots, (locked) =>
    attempts.map(({ counters, right }) => {
      for (const counter of counters.attempt) change(locked, counter, withoutAttempt);
      if (right) change(locked, counters.right, withAttempt);
      return null;
    }),
  );
}

/** Counters as they stand, by slot. */
type Throttles = Map<number, Throttle>;

/** Locks counters, lets `work` replace some of them, and writes those. */
function changeThrottles<Result>(
  db: pg.Pool,
  slots: number[],
  work: (locked: Throttles) => Result,
): Promise<Result> {
  return transaction(db, async (connection) => {
    const before = await lockThrottles(connection, slots);
    const locked = bySlot(before);
    const result = work(locked);
    const unchanged = new Set(before);
    const changed = [...locked.values()].filter((throttle) => !unchanged.has(throttle));
    if (changed.length > 0) await updateThrottles(connection, changed);
    return result;
  });
}

function change(throttles: Throttles, { slot, kind }: Counter, by: typeof withAttempt<Throttle>): void {
  throttles.set(slot, by(throttleIn(throttles, slot), POLICIES[kind]));
}

function throttleIn(throttles: Throttles, slot: number): Throttle {
  const throttle = throttles.get(slot);
  if (throttle === undefined) throw new Error(`throttles: the counter in slot ${slot} is not locked`);
  return throttle;
}

function bySlot(throttles: readonly Throttle[]): Throttles {
  return new Map(throttles.map((throttle) => [throttle.slot, throttle]));
}

/** Each slot once, sorted, so that locks are taken in one order (no deadlock). */
function slotsOf(counters: readonly Counter[]): number[] {
  return [...new Set(counters.map(({ slot }) => slot))].sort((one, other) => one - other);
}
