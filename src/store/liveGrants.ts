import type pg from 'pg';
import { whereOf } from './conditions.ts';
import { queryLong } from './database/query.ts';
import { type Query, statement } from './database/statement.ts';
import { IS_LIVE } from './grants.ts';

// For operators: all live grants of a user or an application. There may be millions, so it may take long.

/** Of a user, of an application, or of the user for the application. */
export type Whose =
  | { readonly userId: string; readonly clientId?: string }
  | { readonly userId?: undefined; readonly clientId: string };

const CONDITIONS = { userId: 'g.user_id = @userId', clientId: 'g.client_id = @clientId' };

/** Selects from the live grants of a user or an application. */
function selectLive(whose: Whose, list: string, limit = ''): Query {
  const where = `${whereOf(CONDITIONS, whose)} and ${IS_LIVE}`;
  return statement<Whose>('', `select ${list} from grants g where ${where} ${limit}`)(whose);
}

/** The ids of at most `limit` live grants, in the order of their keys. */
export async function findLiveGrants(pool: pg.Pool, whose: Whose, limit: number): Promise<string[]> {
  const rows = await queryLong<{ id: string }>(pool, selectLive(whose, 'grant_id as id', `limit ${limit}`));
  return rows.map(({ id }) => id).sort();
}

/** How many live grants there are, and of how many people. */
export async function countLiveGrants(
  pool: pg.Pool,
  whose: Whose,
): Promise<{ grants: number; people: number }> {
  const counts = 'count(*)::int as grants, count(distinct user_id)::int as people';
  const [row] = await queryLong<{ grants: number; people: number }>(pool, selectLive(whose, counts));
  return row ?? { grants: 0, people: 0 };
}
