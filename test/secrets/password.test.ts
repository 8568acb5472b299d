import { describe, expect, it } from 'vitest';
import {
  BusyError,
  hashPassword,
  passwordThreads,
  requirePlace,
  type Turn,
  verifyPassword,
} from '../../src/secrets/password.ts';

const TURN: Turn = { lane: 'stranger', share: 'a network', until: Number.POSITIVE_INFINITY };

function check(stored: string | null, password: string, turn: Partial<Turn> = {}): Promise<boolean> {
  return verifyPassword(stored, password, { ...TURN, ...turn });
}

describe('passwords', async () => {
  const stored = await hashPassword('Пароль 1');

  it('are stored as argon2id with 19 MiB, 2 passes and 1 lane, each with its own salt', async () => {
    expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await hashPassword('Пароль 1')).not.toBe(stored);
  });

  it.each([
    [1, 0, 1],
    [8, 0, 7],
    [32, 512, 5],
    [32, 2 ** 43, 31],
    [32, 64, 1],
  ])(
    'are checked on all of %i cores but one, as far as the %i MB of a container allow: %i',
    (cores, megabytes, threads) => {
      expect(passwordThreads(cores, megabytes * 2 ** 20)).toBe(threads);
    },
  );

  it('accepts the right one', async () => {
    expect(await check(stored, 'Пароль 1')).toBe(true);
  });

  it.each(['', 'пароль 1', 'Пароль 1 ', 'Пароль', stored])('refuses %j', async (password) => {
    expect(await check(stored, password)).toBe(false);
  });

  it.each([
    ['decomposed', 'caf\u00e9', 'cafe\u0301'],
    ['ligatures', 'ﬁsh', 'fish'],
    ['wide digits', '１２３４', '1234'],
  ])('takes %s letters for the same in both directions (NFKC)', async (_what, one, other) => {
    expect(await check(await hashPassword(one), other)).toBe(true);
    expect(await check(await hashPassword(other), one)).toBe(true);
  });

  it.each(['', 'secret', 'nobody has this password'])(
    'refuses %j where no hash is stored',
    async (password) => {
      expect(await check(null, password)).toBe(false);
    },
  );

  it('does not look at one that is longer than any registered one', async () => {
    const long = 'x'.repeat(1001);
    expect(await check(await hashPassword(long), long)).toBe(false);
  });

  /** How many passwords of these shares at the same time are looked at, and how many turned away. */
  async function flood(turns: readonly Partial<Turn>[]): Promise<('looked at' | 'turned away')[]> {
    const ends = await Promise.allSettled(turns.map((turn) => check(stored, 'Пароль 1', turn)));
    return ends.map((end) => {
      if (end.status === 'rejected') expect(end.reason).toBeInstanceOf(BusyError);
      else expect(end.value).toBe(true);
      return end.status === 'rejected' ? 'turned away' : 'looked at';
    });
  }
  const times = (count: number, turn: Partial<Turn>) => Array.from({ length: count }, () => turn);

  it('are checked in turn, and turned away when too many wait', async () => {
    const ends = await flood(times(130, {}));
    const lookedAt = ends.filter((end) => end === 'looked at').length;
    expect(lookedAt).toBeGreaterThanOrEqual(100);
    expect(lookedAt).toBeLessThan(130);
    expect(await check(stored, 'Пароль 1')).toBe(true);
  }, 120_000);

  it('are looked at for every network while one of them floods, and for known devices while strangers do', async () => {
    const flooded = [
      ...times(130, {}),
      { share: 'another network' },
      { lane: 'known', share: 'anna' } as const,
    ];
    const ends = await flood(flooded);
    expect(ends.slice(0, 130)).toContain('turned away');
    expect(ends.slice(130)).toEqual(['looked at', 'looked at']);
  }, 120_000);

  it('are turned away before anything else is done when there is no place', async () => {
    const flooding = flood(times(130, {}));
    expect(() => requirePlace({ ...TURN, share: 'another network' })).not.toThrow();
    await expect.poll(() => refusesPlace(), { interval: 1 }).toBe(true);
    await flooding;
    expect(refusesPlace()).toBe(false);
  }, 120_000);

  it('are not looked at when the answer would come too late', async () => {
    await expect(check(stored, 'Пароль 1', { until: performance.now() })).rejects.toBeInstanceOf(BusyError);
  });
});

function refusesPlace(): boolean {
  try {
    requirePlace(TURN);
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(BusyError);
    return true;
  }
}
