import { describe, expect, it } from 'vitest';
import { type GrantTimes, grantState, isLive } from '../../src/rules/account/grantState.ts';

const time = (text: string) => new Date(`${text}Z`);
const approved: GrantTimes = {
  codeExpiresAt: time('2026-11-20T12:00:50.000'),
  tokenIssuedAt: null,
  revokedAt: null,
};
const exchanged: GrantTimes = { ...approved, tokenIssuedAt: time('2026-11-20T12:00:10.000') };
const revoked: GrantTimes = { ...exchanged, revokedAt: time('2027-01-01T00:00:00.000') };

describe('contract 3: states of a grant', () => {
  it.each([
    ['code issued', 'until the code expires', approved, '2026-11-20T12:00:49.999', true],
    ['code expired', 'from the moment it expires', approved, '2026-11-20T12:00:50.000', false],
    ['active', 'once the token is issued', exchanged, '2026-11-20T12:00:10.000', true],
    ['active', 'until 3 years have passed', exchanged, '2029-11-20T12:00:09.999', true],
    ['expired', 'from 3 years on', exchanged, '2029-11-20T12:00:10.000', false],
    ['revoked', 'whatever its token was', revoked, '2027-01-01T00:00:00.000', false],
    [
      'revoked',
      'whatever its code was',
      { ...approved, revokedAt: approved.codeExpiresAt },
      '2026-11-20T12:00:00.000',
      false,
    ],
    ['revoked', 'also when the token has expired since', revoked, '2040-01-01T00:00:00.000', false],
  ] as const)('is %s %s', (state, _when, grant, now, live) => {
    expect(grantState(grant, time(now))).toBe(state);
    expect(isLive(state)).toBe(live);
  });
});
