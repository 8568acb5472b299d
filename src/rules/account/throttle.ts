// The wait before the next password attempt. Each attempt raises a counter by one, and time lowers it.

const SECOND_MS = 1000;

export interface ThrottlePolicy {
  /** Attempts without a wait; after these 1 s, then 2, 4, 8, … */
  readonly freeAttempts: number;
  /** The counter loses one attempt per such interval. */
  readonly decaySeconds: number;
  readonly maxWaitSeconds: number;
}

/** Each kind of counter and its policy. Name and position give a counter its slot in `throttles`: keep them, append new ones. */
export const THROTTLE_POLICIES = {
  /** A known device, at its login. */
  device: { freeAttempts: 5, decaySeconds: 600, maxWaitSeconds: 900 },
  /** A login from one network. */
  place: { freeAttempts: 5, decaySeconds: 600, maxWaitSeconds: 900 },
  /** A login from all networks: attackers can cause this wait for new devices, so it stays short. */
  login: { freeAttempts: 20, decaySeconds: 60, maxWaitSeconds: 30 },
  /** A network for all logins: a thousand honest users may be behind it. */
  network: { freeAttempts: 1000, decaySeconds: 1, maxWaitSeconds: 30 },
  /** Right passwords of a login: each writes a session and a row of the audit trail. */
  right: { freeAttempts: 1000, decaySeconds: 10, maxWaitSeconds: 30 },
} satisfies Record<string, ThrottlePolicy>;

export type CounterKind = keyof typeof THROTTLE_POLICIES;

/** A stored counter, at `now` by the database's clock. */
export interface CounterState {
  /** Its row in `throttles`. */
  readonly slot: number;
  /** Attempts counted at `countedAt`; fractional, because time lowers it steadily. */
  readonly level: number;
  readonly countedAt: Date;
  readonly freeAt: Date;
  readonly now: Date;
}

/** Whole seconds until the next attempt; 0 if allowed now. */
export function waitSeconds({ freeAt, now }: CounterState, { maxWaitSeconds }: ThrottlePolicy): number {
  const seconds = Math.ceil((freeAt.getTime() - now.getTime()) / SECOND_MS);
  // A wait above the maximum means that the clock was set back: ignore it.
  return seconds > maxWaitSeconds ? 0 : Math.max(0, seconds);
}

export function withAttempt(counter: CounterState, policy: ThrottlePolicy): CounterState {
  const { now, countedAt } = counter;
  const decayed = (now.getTime() - countedAt.getTime()) / SECOND_MS / policy.decaySeconds;
  const level = Math.max(0, counter.level - Math.max(0, decayed)) + 1;
  return { ...counter, level, countedAt: now, freeAt: freeAfter(now, level, policy) };
}

export function withoutAttempt(counter: CounterState, policy: ThrottlePolicy): CounterState {
  const level = Math.max(0, counter.level - 1);
  return { ...counter, level, freeAt: freeAfter(counter.countedAt, level, policy) };
}

function freeAfter(countedAt: Date, level: number, { freeAttempts, maxWaitSeconds }: ThrottlePolicy): Date {
  const doublings = Math.round(level) - freeAttempts;
  const seconds = doublings < 0 ? 0 : Math.min(2 ** doublings, maxWaitSeconds);
  return new Date(countedAt.getTime() + seconds * SECOND_MS);
}

export interface Counter extends Pick<CounterState, 'slot'> {
  readonly kind: CounterKind;
}

export interface AttemptResult {
  /** 0 if counted. */
  readonly waitSeconds: number;
  /** The counter with the longest wait; null if counted. */
  readonly waitsFor: CounterKind | null;
  /** For the audit trail if the password is wrong: the next attempts have to wait. */
  readonly slotToReport: number | null;
}

export class ThrottleCounters {
  readonly #read: ReadonlySet<CounterState>;
  readonly #bySlot: Map<number, CounterState>;

  constructor(read: readonly CounterState[]) {
    this.#read = new Set(read);
    this.#bySlot = new Map(read.map((state) => [state.slot, state]));
  }

  get changed(): CounterState[] {
    return [...this.#bySlot.values()].filter((state) => !this.#read.has(state));
  }

  /** Counts an attempt at `counters`, unless one of `limiting` requires a wait. */
  attempt(counters: readonly Counter[], limiting: readonly Counter[] = counters): AttemptResult {
    const waits = limiting.map(({ kind, slot }) => {
      return { waitSeconds: waitSeconds(this.#stateIn(slot), THROTTLE_POLICIES[kind]), waitsFor: kind };
    });
    const [longest] = waits.toSorted((one, other) => other.waitSeconds - one.waitSeconds);
    if (longest && longest.waitSeconds > 0) return { ...longest, slotToReport: null };
    for (const counter of counters) this.change(counter, withAttempt);
    const states = counters.map(({ slot }) => this.#stateIn(slot));
    const mustWait = states.some(({ freeAt, now }) => freeAt > now);
    // The first counter is the login's or the device's.
    const slotToReport = mustWait ? (counters[0]?.slot ?? null) : null;
    return { waitSeconds: 0, waitsFor: null, slotToReport };
  }

  change({ kind, slot }: Counter, by: typeof withAttempt): void {
    this.#bySlot.set(slot, by(this.#stateIn(slot), THROTTLE_POLICIES[kind]));
  }

  #stateIn(slot: number): CounterState {
    const state = this.#bySlot.get(slot);
    if (state === undefined) throw new Error(`throttles: the counter in slot ${slot} was not read`);
    return state;
  }
}
