import type pg from 'pg';
import * as throttle from '../../rules/account/throttle.ts';
import { findThrottles, lockThrottles, updateThrottles } from '../../store/account/throttles.ts';
import { batched } from '../../store/database/batch.ts';
import { transaction } from '../../store/database/database.ts';
import type { Context } from '../common/context.ts';
import type { PasswordKind } from './device.ts';

// Counts attempts by login, network and device before passwords are checked, so that a hundred at once are a hundred: counted
// after the check, all of them would find the counter empty. Right or unchecked ones are taken back. Throttled ones are not counted
// and write nothing, so that trying lengthens no wait.

/** The counters that an attempt raises, and the one that a right password raises. */
type Counters = ReturnType<typeof countersOf>;

/** Slots of each kind: the maximum of rows for each of {@link KINDS}. Two counters may share one. */
const SLOTS = 2 ** 18;
const KINDS = Object.keys(throttle.THROTTLE_POLICIES) as throttle.CounterKind[];

/** A known device (OWASP's device cookie) has its own counter, which no other browser can raise. @param device null for none */
export function countersOf(
  { keyRing }: Context,
  passwordKind: PasswordKind,
  login: string,
  network: string,
  device: string | null,
) {
  const counter = (kind: throttle.CounterKind, ...names: string[]): throttle.Counter => {
    const digest = keyRing.slotDigest(JSON.stringify([passwordKind, kind, ...names]));
    return { kind, slot: KINDS.indexOf(kind) * SLOTS + (digest % SLOTS) };
  };
  const attempt =
    device === null
      ? [counter('login', login), counter('place', login, network), counter('network', network)]
      : [counter('device', device)];
  return { attempt, right: counter('right', login) };
}

/** Counts unthrottled attempts in one transaction. If a lost connection counts one twice, waits begin earlier. */
export const recordAttempt = batched(
  'throttle-record',
  async (db, asked: readonly Counters[]): Promise<throttle.AttemptResult[]> => {
    const slots = slotsOf(asked.flatMap(({ attempt, right }) => [...attempt, right]));
    const seen = new throttle.ThrottleCounters(await findThrottles(db, { slots }));
    const first = asked.map(({ attempt, right }) => seen.attempt(attempt, [...attempt, right]));
    const free = asked.filter((_, index) => first[index]?.waitSeconds === 0);
    if (free.length === 0) return first;
    const second = await changeThrottles(db, slotsOf(free.flatMap(({ attempt }) => attempt)), (locked) =>
      free.map(({ attempt }) => locked.attempt(attempt)),
    );
    return first.map((recorded) => (recorded.waitSeconds > 0 ? recorded : (second.shift() ?? recorded)));
  },
);

/** Takes back right or unchecked attempts, any number in one transaction, and counts the right ones. */
export const takeBackAttempt = batched(
  'throttle-take-back',
  (db, attempts: readonly { readonly counters: Counters; readonly right: boolean }[]): Promise<null[]> => {
    const changed = attempts.flatMap(({ counters, right }) =>
      right ? [...counters.attempt, counters.right] : counters.attempt,
    );
    return changeThrottles(db, slotsOf(changed), (locked) =>
      attempts.map(({ counters, right }) => {
        for (const counter of counters.attempt) locked.change(counter, throttle.withoutAttempt);
        if (right) locked.change(counters.right, throttle.withAttempt);
        return null;
      }),
    );
  },
);

function changeThrottles<Result>(
  db: pg.Pool,
  slots: number[],
  work: (locked: throttle.ThrottleCounters) => Result,
) {
  return transaction(db, async (connection) => {
    const locked = new throttle.ThrottleCounters(await lockThrottles(connection, { slots }));
    const result = work(locked);
    if (locked.changed.length > 0) await updateThrottles(connection, locked.changed);
    return result;
  });
}

/** Each slot once, sorted: locks are taken in one order (no deadlock). */
function slotsOf(counters: readonly throttle.Counter[]): number[] {
  return [...new Set(counters.map(({ slot }) => slot))].sort((one, other) => one - other);
}
