import { tokenExpiresAt } from './lifetimes.ts';

/** Where a grant stands in the lifecycle of contract section 3. */
export type GrantState = 'code issued' | 'code expired' | 'active' | 'expired' | 'revoked';

/** The times that decide the state of a grant. */
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

/** Whether a grant in this state still lets somebody act, or get a token to act with. */
export function isLive(state: GrantState): boolean {
  return state === 'active' || state === 'code issued';
}
