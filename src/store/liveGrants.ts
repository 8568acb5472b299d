import type pg from 'pg';
import { queryLong, transaction } from './database.ts';
import { LIVE } from './grants.ts';
import { type Where, whereOf } from './where.ts';

// What an operator asks about all authorizations of a user or an application. There may be millions, so it may take long.

/** Of a user, of an application, or of the user for the application. */
export type Whose =
  | { readonly userId: string; readonly clientId?: string }
  | { readonly userId?: undefined; readonly clientId: string };

function ofWhom({ userId, clientId }: Whose): Where {
  return whereOf([
    ['g.user_id =', userId],
    ['g.client_id =', clientId],
  ]);
}

/** The ids of at most `limit` live grants, in the order of their keys. */
export async function findLiveGrants(pool: pg.Pool, whose: Whose, limit: number): Promise<string[]> {
  const { condition, values } = ofWhom(whose);
  const text = `select grant_id as id from grants g where ${condition} and ${LIVE} limit ${limit}`;
  const rows = await transaction(pool, (connection) =>
    queryLong<{ id: string }>(connection, { name: '', text }, values),
  );
  return rows.map(({ id }) => id).sort();
}

/** How many live grants there are, and of how many people. */
export async function countLiveGrants(
  pool: pg.Pool,
  whose: Whose,
): Promise<{ grants: number; people: number }> {
  const { condition, values } = ofWhom(whose);
  const text = `select count(*)::int as grants, count(distinct user_id)::int as people from grants g where ${condition} and ${LIVE}`;
  const [row] = await transaction(pool, (connection) =>
    queryLong<{ grants: number; people: number }>(connection, { name: '', text }, values),
  );
  return row ?? { grants: 0, people: 0 };
}
