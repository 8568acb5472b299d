import type pg from 'pg';
import { DECISION_MS } from '../../rules/timeouts.ts';
import { isUuid } from '../../secrets/uuid.ts';
import { findLiveGrants, type Whose } from '../../store/liveGrants.ts';
import { MAX_AT_ONCE, revokeGrants } from '../../store/revocations.ts';

// Operators list and revoke grants. Users do so on their page, applications at the revocation endpoint.
export { findGrantOfToken, type Grant } from '../../store/grants.ts';
export { countLiveGrants, listGrants, type Whose } from '../../store/liveGrants.ts';

/** @returns whether it was not revoked before; null when there is no such grant */
export async function revokeGrant(pool: pg.Pool, grantId: string, operator: string): Promise<boolean | null> {
  if (!isUuid(grantId.toLowerCase())) return null;
  const { found, revoked } = await revokeGrants(pool, [grantId], operator, performance.now() + DECISION_MS);
  return found === 0 ? null : revoked === 1;
}

/**
 * Revokes all live grants that fit. Each batch is a transaction of its own, so that this
 * can be interrupted at any moment, and asked again for the rest.
 *
 * @param progress is told how many are revoked so far
 * @returns how many
 */
export async function revokeAll(
  pool: pg.Pool,
  whose: Whose,
  operator: string,
  progress: (revoked: number) => void,
): Promise<number> {
  let revoked = 0;
  for await (const page of findLiveGrants(pool, whose)) {
    const [before, ids] = [revoked, page.map(({ id }) => id)];
    revoked += await revokeThese(pool, ids, operator, (more) => progress(before + more));
  }
  return revoked;
}

/** The same for grants by their ids, in the order of their keys. */
export async function revokeThese(
  pool: pg.Pool,
  ids: readonly string[],
  operator: string,
  progress: (revoked: number) => void,
): Promise<number> {
  let revoked = 0;
  for (let from = 0; from < ids.length; from += MAX_AT_ONCE) {
    const batch = ids.slice(from, from + MAX_AT_ONCE);
    revoked += (await revokeGrants(pool, batch, operator, performance.now() + DECISION_MS)).revoked;
    progress(revoked);
  }
  return revoked;
}
