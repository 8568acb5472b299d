import { tokenExpiresAt } from '../common/lifetimes.ts';

type GrantState = 'code issued' | 'code expired' | 'active' | 'expired' | 'revoked';

export interface GrantTimes {
  readonly codeExpiresAt: Date;
  readonly tokenIssuedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** The state of a grant at `now`, by the database's clock (contract section 3). */
export function grantState(grant: GrantTimes, now: Date): GrantState {
  if (grant.revokedAt !== null) return 'revoked';
  if (grant.tokenIssuedAt !== null) return now < tokenExpiresAt(grant.tokenIssuedAt) ? 'active' : 'expired';
  return now < grant.codeExpiresAt ? 'code issued' : 'code expired';
}

/** Its token is valid, or its code may yield one. */
export function isLive(state: GrantState): boolean {
  return state === 'active' || state === 'code issued';
}
