import type pg from 'pg';
import { whereOf } from './conditions.ts';
import { queryLong } from './database/query.ts';
import { type Query, statement } from './database/statement.ts';
import { IS_LIVE } from './grants.ts';

// For operators: many live grants at once. There may be millions, so it may take long.

/** Which ones: each field that is there narrows them down, and one must be. */
export interface Whose {
  readonly userId?: string;
  readonly clientId?: string;
  /** Authorized from this time on. */
  readonly since?: Date;
  /** Authorized before this time. */
  readonly until?: Date;
}

const CONDITIONS = {
  userId: 'g.user_id = @userId',
  clientId: 'g.client_id = @clientId',
  since: 'g.confirmed_at >= @since',
  until: 'g.confirmed_at < @until',
  after: 'g.grant_id > @after',
};

/** Selects from live grants. @throws {Error} when nothing says which: nobody means all that there are */
function selectLive(whose: Whose & { after?: string | null }, list: string, order = ''): Query {
  const { after: _after, ...asked } = whose;
  if (Object.values(asked).every((value) => value === undefined))
    throw new Error('all grants were asked for');
  const where = `${whereOf(CONDITIONS, whose)} and ${IS_LIVE}`;
  return statement<Whose>('', `select ${list} from grants g where ${where} ${order}`)(whose);
}

/** The ids of at most `limit` live grants, in the order of their keys. @param after from behind this id on; null from the first */
export async function findLiveGrants(
  pool: pg.Pool,
  whose: Whose,
  after: string | null,
  limit: number,
): Promise<string[]> {
  const order = `order by grant_id limit ${limit}`;
  const rows = await queryLong<{ id: string }>(
    pool,
    selectLive({ ...whose, after }, 'grant_id as id', order),
  );
  return rows.map(({ id }) => id);
}

/** An event of the trail after which what was authorized before is no longer good. */
export interface GrantEnd {
  readonly grantId: string;
  readonly at: Date;
  /** Whether it is an authorization, which ends the one before it and not itself. */
  readonly isApproval: boolean;
}

// An authorization is older than its own event, by its statement's time at the most.
const findEnded = statement<{
  ids: readonly string[];
  times: readonly Date[];
  approvals: readonly boolean[];
}>(
  '',
  `
select distinct g.grant_id as id, g.user_id as "userId"
  from unnest(@ids::uuid[], @times::timestamptz[], @approvals::boolean[]) as ended (grant_id, at, is_approval)
  join grants g using (grant_id)
 where g.confirmed_at < ended.at - case when is_approval then interval '10 seconds' else interval '0' end and ${IS_LIVE}`,
);

/** Of grants that ended, or were given anew: those that are live as they were authorized before. */
export function findEndedGrants(
  pool: pg.Pool,
  ends: readonly GrantEnd[],
): Promise<{ id: string; userId: string }[]> {
  const ids = ends.map(({ grantId }) => grantId);
  const times = ends.map(({ at }) => at);
  return queryLong(pool, findEnded({ ids, times, approvals: ends.map(({ isApproval }) => isApproval) }));
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
