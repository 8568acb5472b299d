import { describe, expect, it } from 'vitest';
import { BusyError, hashPassword, verifyPassword } from '../../src/secrets/password.ts';

describe('passwords', async () => {
  const stored = await hashPassword('Пароль 1');

  it('are stored as argon2id with 19 MiB, 2 passes and 1 lane, each with its own salt', async () => {
    expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await hashPassword('Пароль 1')).not.toBe(stored);
  });

  it('accepts the right one', async () => {
    expect(await verifyPassword(stored, 'Пароль 1')).toBe(true);
  });

  it.each(['', 'пароль 1', 'Пароль 1 ', 'Пароль', stored])('refuses %j', async (password) => {
    expect(await verifyPassword(stored, password)).toBe(false);
  });

  it.each([
    ['decomposed', 'caf\u00e9', 'cafe\u0301'],
    ['ligatures', 'ﬁsh', 'fish'],
    ['wide digits', '１２３４', '1234'],
  ])('takes %s letters for the same in both directions (NFKC)', async (_what, one, other) => {
    expect(await verifyPassword(await hashPassword(one), other)).toBe(true);
    expect(await verifyPassword(await hashPassword(other), one)).toBe(true);
  });

  it.each(['', 'secret', 'nobody has this password'])(
    'refuses %j where no hash is stored',
    async (password) => {
      expect(await verifyPassword(null, password)).toBe(false);
    },
  );

  it('are checked in turn, and turned away when too many wait', async () => {
    const tries = Array.from({ length: 130 }, () => verifyPassword(stored, 'Пароль 1'));
    const ends = await Promise.allSettled(tries);
    const refused = ends.filter((end) => end.status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    expect(ends.length - refused.length).toBeGreaterThanOrEqual(100);
    for (const { reason } of refused) expect(reason).toBeInstanceOf(BusyError);
    for (const end of ends) if (end.status === 'fulfilled') expect(end.value).toBe(true);
    expect(await verifyPassword(stored, 'Пароль 1')).toBe(true);
  }, 120_000);
});
