import type pg from 'pg';
import { whereOf } from './conditions.ts';
import { transaction } from './database.ts';
import { IS_LIVE } from './grants.ts';
import { queryLong } from './query.ts';
import { statement } from './statement.ts';

// For operators: all live grants of a user or an application. There may be millions, so it may take long.

/** Of a user, of an application, or of the user for the application. */
export type Whose =
  | { readonly userId: string; readonly clientId?: string }
  | { readonly userId?: undefined; readonly clientId: string };

/** Selects from the live grants of a user or an application. */
function selectLive<Row extends object>(
  pool: pg.Pool,
  whose: Whose,
  list: string,
  limit = '',
): Promise<Row[]> {
  const where = `${whereOf(CONDITIONS, whose)} and ${IS_LIVE}`;
  const find = statement<Whose>('', `select ${list} from grants g where ${where} ${limit}`);
  return transaction(pool, (connection) => queryLong(connection, find(whose)));
}

const CONDITIONS = { userId: 'g.user_id = @userId', clientId: 'g.client_id = @clientId' };

/** The ids of at most `limit` live grants, in the order of their keys. */
export async function findLiveGrants(pool: pg.Pool, whose: Whose, limit: number): Promise<string[]> {
  const rows = await selectLive<{ id: string }>(pool, whose, 'grant_id as id', `limit ${limit}`);
  return rows.map(({ id }) => id).sort();
}

/** How many live grants there are, and of how many people. */
export async function countLiveGrants(
  pool: pg.Pool,
  whose: Whose,
): Promise<{ grants: number; people: number }> {
  const counts = 'count(*)::int as grants, count(distinct user_id)::int as people';
  const [row] = await selectLive<{ grants: number; people: number }>(pool, whose, counts);
  return row ?? { grants: 0, people: 0 };
}
