import type pg from 'pg';
import { DECISION_MS } from '../rules/lifetimes.ts';
import { findLiveGrants, type Whose } from '../store/liveGrants.ts';
import { MAX_AT_ONCE, revokeGrants } from '../store/revocations.ts';

/** Ids that are read at a time. */
const CHUNK = 50_000;

/**
 * Takes back everything that a user has allowed, or that an application was. Each batch is a transaction of its own, so
 * that it can be interrupted at any moment, and asked again for the rest.
 *
 * @param progress is told how many are taken back so far
 * @returns how many
 */
export async function revokeAll(
  pool: pg.Pool,
  whose: Whose,
  operator: string,
  progress: (revoked: number) => void,
): Promise<number> {
  let revoked = 0;
  for (;;) {
    const ids = await findLiveGrants(pool, whose, CHUNK);
    for (let from = 0; from < ids.length; from += MAX_AT_ONCE) {
      const batch = ids.slice(from, from + MAX_AT_ONCE);
      revoked += (await revokeGrants(pool, batch, operator, performance.now() + DECISION_MS)).revoked;
      progress(revoked);
    }
    if (ids.length < CHUNK) return revoked;
  }
}
