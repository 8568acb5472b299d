import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CounterState,
  THROTTLE_POLICIES,
  type ThrottlePolicy,
  waitSeconds,
  withAttempt,
} from '../../src/rules/account/throttle.ts';
import { forAny } from './arbitraries.ts';

const NOW = new Date('2026-11-20T12:00:00Z');
const NEW: CounterState = { slot: 1, level: 0, countedAt: NOW, freeAt: NOW, now: NOW };

const policy = fc.constantFrom<ThrottlePolicy[]>(...Object.values(THROTTLE_POLICIES));
const attempts = fc.nat({ max: 1_100 });
const elapsedSeconds = fc.nat({ max: 10_000 });

function afterAttempts(count: number, by: ThrottlePolicy): CounterState {
  let counter = NEW;
  for (let n = 0; n < count; n += 1) counter = withAttempt(counter, by);
  return counter;
}

/** The same counter, read later, or earlier if negative. */
function readLater(counter: CounterState, seconds: number): CounterState {
  return { ...counter, now: new Date(counter.now.getTime() + seconds * 1000) };
}

describe('the wait before the next password attempt', () => {
  it.each(Object.entries(THROTTLE_POLICIES))(
    'doubles after the free attempts, up to the maximum of the policy: %s',
    (_kind, by) => {
      const waits = Array.from({ length: 12 }, (_, more) =>
        waitSeconds(afterAttempts(by.freeAttempts + more, by), by),
      );
      expect(waitSeconds(afterAttempts(by.freeAttempts - 1, by), by)).toBe(0);
      expect(waits).toEqual(waits.map((_, more) => Math.min(2 ** more, by.maxWaitSeconds)));
    },
  );

  it('is ignored if the clock was set back by more than the maximum wait', () => {
    forAny(policy, fc.nat({ max: 20 }), fc.integer({ min: 1, max: 10_000 }), (by, more, seconds) => {
      const counter = afterAttempts(by.freeAttempts + more, by);
      expect(waitSeconds(readLater(counter, -by.maxWaitSeconds - seconds), by)).toBe(0);
    });
  });
});

describe('a counter of attempts', () => {
  it('loses one attempt per decay time, and none when the clock is set back', () => {
    forAny(policy, attempts, elapsedSeconds, (by, count, seconds) => {
      const counter = afterAttempts(count, by);
      const later = withAttempt(readLater(counter, seconds), by);
      expect(later.level).toBeCloseTo(Math.max(0, count - seconds / by.decaySeconds) + 1);
      expect(withAttempt(readLater(counter, -seconds), by).level).toBe(count + 1);
    });
  });
});
