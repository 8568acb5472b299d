import { rightKeyOf } from '../../rules/request/scopeRules.ts';
import type { Right } from '../../rules/scope/scope.ts';
import { sha256 } from '../../secrets/digest.ts';
import type { Database } from '../database/database.ts';
import { findAll } from '../database/query.ts';

/** What a right has spent in its period; sums are exact decimals. */
export interface Spent {
  readonly used: string;
  /** Of the oldest payment that counts; null for a one-time limit. */
  readonly oldest: string | null;
  /** When it no longer does. */
  readonly freeAgain: Date | null;
}

/** The rights of a grant that have spent something, by {@link rightKeyOf}. */
export type SpentByRight = ReadonlyMap<string, Spent>;

const find = findAll<{ budgets: string }, Spent & { readonly grant: number; readonly key: string }>(
  'account-spent-find',
)`
select r."grant", r.key, s.used::text, s.oldest::text, s.oldest_at + r.days * interval '24 hours' as "freeAgain"
  from jsonb_to_recordset(@budgets::jsonb)
       as r ("grant" int, key text, grant_id uuid, budget bytea, days int)
  join grants g using (grant_id)
 cross join lateral spent(g.grant_id, r.budget, r.days, g.token_issued_at) s
 where s.used > 0`;

/** What each grant has spent of the rights that it has now, in the grants' order. */
export async function findSpent(
  db: Database,
  grants: readonly { readonly grantId: string; readonly rights: readonly Right[] }[],
): Promise<SpentByRight[]> {
  const budgets = grants.flatMap(({ grantId, rights }, grant) =>
    rights.flatMap((right) => {
      if (right.limit === undefined) return [];
      const key = rightKeyOf(right);
      return { grant, key, grant_id: grantId, budget: sha256(key), days: right.limit.days };
    }),
  );
  const rows = budgets.length === 0 ? [] : await find(db, { budgets: JSON.stringify(budgets) });
  return grants.map(
    (_, at) => new Map(rows.filter(({ grant }) => grant === at).map((row) => [row.key, row])),
  );
}
