import type { Digest } from '../../secrets/digest.ts';
import { findAll } from '../database/query.ts';

/** The budgets of some rights, in one order. */
interface Budgets {
  readonly grantIds: readonly string[];
  readonly budgets: readonly Digest[];
  /** Null for a one-time limit. */
  readonly days: readonly (number | null)[];
  readonly tokenIssuedAts: readonly Date[];
}

/** What a right has spent in its period; sums are exact decimals. */
export interface Spent {
  readonly used: string;
  /** Of the oldest payment that counts; null for a one-time limit. */
  readonly oldest: string | null;
  /** When it no longer does. */
  readonly freeAgain: Date | null;
}

/** The budgets with payments, by their `index` in that order (from 0). */
export const findSpent = findAll<Budgets, Spent & { readonly index: number }>('account-spent-find')`
select n::int - 1 as index, s.used::text, s.oldest::text, s.oldest_at + r.days * interval '24 hours' as "freeAgain"
  from unnest(@grantIds::uuid[], @budgets::bytea[], @days::int[], @tokenIssuedAts::timestamptz[])
       with ordinality as r (grant_id, budget, days, token_issued_at, n)
 cross join lateral spent(r.grant_id, r.budget, r.days, r.token_issued_at) s
 where s.used > 0`;
