import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tokenExpiresAt, tokenLifetimeSeconds } from '../../src/rules/common/lifetimes.ts';
import { forAny } from './arbitraries.ts';

const DAY = 24 * 60 * 60 * 1000;
const BOUNDARY = Date.parse('2018-02-07T00:00:00.000Z');

describe('contract 8: lifetime of the access token', () => {
  it.each([
    ['6 months from 31 August', '2017-08-31T10:00:00.000Z', '2018-02-28T10:00:00.000Z'],
    ['6 months from 31 August into a leap year', '2015-08-31T10:00:00.000Z', '2016-02-29T10:00:00.000Z'],
  ])('is %s', (_what, issued, expires) => {
    expect(tokenExpiresAt(new Date(issued)).toISOString()).toBe(expires);
  });

  it('ends at the same UTC time of day in the right month, never a day late', () => {
    const times = fc.oneof(
      fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
      fc.integer({ min: -1000, max: 1000 }).map((distance) => new Date(BOUNDARY + distance)),
    );
    forAny(times, (issuedAt) => {
      const expiresAt = tokenExpiresAt(issuedAt);
      const old = issuedAt.getTime() < BOUNDARY;
      const [least, most, months] = old ? [181, 184, 6] : [1095, 1096, 36];
      const lifetime = expiresAt.getTime() - issuedAt.getTime();
      expect(lifetime % DAY).toBe(0);
      expect(lifetime / DAY).toBeGreaterThanOrEqual(least);
      expect(lifetime / DAY).toBeLessThanOrEqual(most);
      expect(expiresAt.getUTCMonth()).toBe((issuedAt.getUTCMonth() + months) % 12);
      expect(tokenLifetimeSeconds(issuedAt)).toBe(lifetime / 1000);
    });
  });
});
