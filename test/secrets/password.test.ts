import { describe, expect, it } from 'vitest';
import { OverloadedError } from '../../src/rules/common/error.ts';
import { isOwn } from '../../src/secrets/foreignHash.js';
import { hashPassword, type QueueTicket, ThreadQueues, verifyPassword } from '../../src/secrets/password.ts';
import { hash } from '../../src/secrets/passwordThread.js';

const TICKET: QueueTicket = { queue: 'stranger', key: 'a network', until: Number.POSITIVE_INFINITY };

function check(stored: string | null, password: string, ticket: Partial<QueueTicket> = {}) {
  return verifyPassword(stored, password, { ...TICKET, ...ticket });
}

describe('passwords', async () => {
  const stored = await hashPassword('Пароль 1');

  it('are stored as argon2id, each with its own salt', async () => {
    const hashes = [hash('Пароль 1'), hash('Пароль 1')];
    for (const each of hashes)
      expect([each.startsWith('$argon2id$v=19$m=19456,t=2,p=1$'), isOwn(each)]).toEqual([true, true]);
    expect(new Set(hashes).size).toBe(2);
  });

  it.each([
    ['decomposed letters', 'caf\u00e9', 'cafe\u0301'],
    ['ligatures', 'ﬁsh', 'fish'],
    ['full-width digits', '１２３４', '1234'],
  ])('match their NFKC equivalents in both directions: %s', async (_what, one, other) => {
    expect(await check(await hashPassword(one), other)).toBe(true);
    expect(await check(await hashPassword(other), one)).toBe(true);
  });

  it('are refused if too long, even with a matching hash', async () => {
    const long = 'x'.repeat(1001);
    expect(await check(await hashPassword(long), long)).toBe(false);
  });

  /** Asks for all these checks at once. @returns the fate of each */
  async function flood(tickets: readonly Partial<QueueTicket>[]): Promise<('looked at' | 'turned away')[]> {
    const ends = await Promise.allSettled(tickets.map((ticket) => check(stored, 'Пароль 1', ticket)));
    return ends.map((end) => {
      if (end.status === 'rejected') expect(end.reason).toBeInstanceOf(OverloadedError);
      else expect(end.value).toBe(true);
      return end.status === 'rejected' ? 'turned away' : 'looked at';
    });
  }
  const times = (count: number, ticket: Partial<QueueTicket>) => Array.from({ length: count }, () => ticket);

  it('are checked for all networks and for known devices while one network floods the queue [password-1]', async () => {
    const flooded = [...times(130, {}), { key: 'another network' }, { queue: 'known', key: 'anna' } as const];
    const ends = await flood(flooded);
    expect(ends.slice(0, 130)).toContain('turned away');
    expect(ends.slice(130)).toEqual(['looked at', 'looked at']);
  });

  it('are not checked if the answer would be too late', async () => {
    // An unknown login, which has no hash, waits for its turn as well.
    for (const hashed of [stored, null]) {
      const late = check(hashed, 'Пароль 1', { until: performance.now() });
      await expect(late).rejects.toBeInstanceOf(OverloadedError);
    }
  });
});

describe('the queue of password checks', () => {
  const MiB = 2 ** 20;

  /** Begins pieces of work, each with its MiB. @returns those that run, and the function that ends one */
  function begin(most: { threads: number; bytes: number }, given: readonly [string, number][]) {
    const turns = new ThreadQueues(most);
    const running = new Map<string, () => void>();
    const all = given.map(([name, megabytes]) => {
      const queue = name.startsWith('known') ? 'known' : name.startsWith('new') ? 'hashing' : 'stranger';
      const place = { queue, key: name, until: Infinity, bytes: megabytes * MiB } as const;
      return turns.run(place, () => new Promise<void>((resolve) => running.set(name, resolve)));
    });
    const end = async (name: string) => {
      running.get(name)?.();
      running.delete(name);
      await all[given.findIndex(([other]) => other === name)];
      await Promise.resolve();
      return [...running.keys()];
    };
    return { running, end };
  }

  it('admits as much work at once as memory allows, in order', async () => {
    const { running, end } = begin({ threads: 5, bytes: 170 * MiB }, [
      ['small', 32],
      ['large', 115],
      ['small too', 32],
      ['large too', 115],
    ]);
    await expect.poll(() => [...running.keys()]).toEqual(['small', 'large']);
    expect(await end('small')).toEqual(['large', 'small too']);
    expect(await end('small too')).toEqual(['large']); // nothing overtakes the other
    expect(await end('large')).toEqual(['large too']);
    await end('large too');
  });

  it('admits work that exceeds the memory limit, but alone', async () => {
    const { running, end } = begin({ threads: 5, bytes: 21 * MiB }, [
      ['large', 141],
      ['small', 32],
    ]);
    await expect.poll(() => [...running.keys()]).toEqual(['large']);
    expect(await end('large')).toEqual(['small']);
    await end('small');
  });

  it('runs hashing of new passwords first, then alternates between known and unknown devices', async () => {
    const names = ['stranger 1', 'stranger 2', 'known 1', 'known 2', 'new 1', 'new 2'];
    const { running, end } = begin(
      { threads: 1, bytes: Infinity },
      names.map((name) => [name, 32]),
    );
    const order: string[] = [];
    for (const _ of names) {
      await expect.poll(() => running.size).toBe(1);
      const [name = ''] = running.keys();
      order.push(name);
      await end(name);
    }
    expect(order).toEqual(['stranger 1', 'new 1', 'new 2', 'known 1', 'stranger 2', 'known 2']);
  });
});
