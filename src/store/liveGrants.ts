import type pg from 'pg';
import { selectLong, transaction } from './database.ts';
import { LIVE } from './grants.ts';

// What an operator asks about all authorizations of a user or an application. There may be millions, so it may take long.

/** Of a user, of an application, or of the user for the application. */
export type Whose =
  | { readonly userId: string; readonly clientId?: string }
  | { readonly userId?: undefined; readonly clientId: string };

/** Only what is asked stands in the statement, so that its plan is made for that. */
function conditionOf({ userId, clientId }: Whose): { condition: string; values: string[] } {
  const conditions = [
    ['user_id', userId],
    ['client_id', clientId],
  ].filter(([, value]) => value !== undefined);
  return {
    condition: conditions.map(([column], index) => `g.${column} = $${index + 1} and `).join('') + LIVE,
    values: conditions.map(([, value]) => value ?? ''),
  };
}

/** The ids of at most `limit` live grants, in the order of their keys. */
export async function findLiveGrants(pool: pg.Pool, whose: Whose, limit: number): Promise<string[]> {
  const { condition, values } = conditionOf(whose);
  const text = `select grant_id as id from grants g where ${condition} limit ${limit}`;
  const rows = await transaction(pool, (connection) =>
    selectLong<{ id: string }>(connection, { name: '', text }, values),
  );
  return rows.map(({ id }) => id).sort();
}

/** How many live grants there are, and of how many people. */
export async function countLiveGrants(
  pool: pg.Pool,
  whose: Whose,
): Promise<{ grants: number; people: number }> {
  const { condition, values } = conditionOf(whose);
  const text = `select count(*)::int as grants, count(distinct user_id)::int as people from grants g where ${condition}`;
  const [row] = await transaction(pool, (connection) =>
    selectLong<{ grants: number; people: number }>(connection, { name: '', text }, values),
  );
  return row ?? { grants: 0, people: 0 };
}
