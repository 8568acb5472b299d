import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type GrantTimes, grantState, isLive } from '../../src/rules/account/grantState.ts';
import { tokenExpiresAt, tokenLifetimeSeconds } from '../../src/rules/common/lifetimes.ts';
import { forAny } from './arbitraries.ts';

const DAY = 24 * 60 * 60 * 1000;
const BOUNDARY = Date.parse('2018-02-07T00:00:00.000Z');

describe('contract 8: lifetime of the access token', () => {
  it('ends some months later at the same UTC time of day, never a day late', () => {
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

const time = (text: string) => new Date(`${text}Z`);
const approved: GrantTimes = {
  codeExpiresAt: time('2026-11-20T12:00:50.000'),
  tokenIssuedAt: null,
  revokedAt: null,
};
const exchanged: GrantTimes = { ...approved, tokenIssuedAt: time('2026-11-20T12:00:10.000') };
const disconnected: GrantTimes = { ...approved, revokedAt: approved.codeExpiresAt };
const revoked: GrantTimes = { ...exchanged, revokedAt: time('2027-01-01T00:00:00.000') };

it.each([
  ['code issued', 'until the code expires', approved, '2026-11-20T12:00:49.999', true],
  ['code expired', 'from the moment the code expires', approved, '2026-11-20T12:00:50.000', false],
  ['active', 'once the token is issued', exchanged, '2026-11-20T12:00:10.000', true],
  ['active', 'until 3 years after the token was issued', exchanged, '2029-11-20T12:00:09.999', true],
  ['expired', 'from 3 years after the token was issued', exchanged, '2029-11-20T12:00:10.000', false],
  ['revoked', 'even if its token has not expired', revoked, '2027-01-01T00:00:00.000', false],
  ['revoked', 'even if its code has not expired', disconnected, '2026-11-20T12:00:00.000', false],
  ['revoked', 'even if its token has expired since', revoked, '2040-01-01T00:00:00.000', false],
] as const)('contract 3: a grant is “%s” %s', (state, _when, grant, now, live) => {
  expect(grantState(grant, time(now))).toBe(state);
  expect(isLive(state)).toBe(live);
});
