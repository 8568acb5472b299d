import type pg from 'pg';
import type { Digest } from '../../secrets/digest.ts';
import { CURSOR_TIME_SQL, microsSql, whereOf } from '../common/conditions.ts';
import { GRANT_COLUMNS, type Grant, IS_LIVE } from '../common/grants.ts';
import { findLong, queryLong, queryPages } from '../database/query.ts';
import { batchStatement, type Query, statement } from '../database/statement.ts';

// For operators: many grants at once. There may be millions, so it may take long.

/** Each given field narrows the selection. */
export type GrantFilter = Partial<
  Record<'grantId' | 'userId' | 'clientId' | 'behind' | 'after', string | undefined>
> &
  Partial<Record<'since' | 'until', Date | undefined>>;

const CONDITIONS = {
  grantId: 'g.grant_id = @grantId',
  userId: 'g.user_id = @userId',
  clientId: 'g.client_id = @clientId',
  since: 'g.confirmed_at >= @since',
  until: 'g.confirmed_at < @until',
  behind: 'g.grant_id > @behind',
  after: `g.confirmed_at <= ${CURSOR_TIME_SQL} and (g.confirmed_at < ${CURSOR_TIME_SQL} or g.grant_id > split_part(@after, '.', 2)::uuid)`,
};

/** @throws {Error} without a filter: all grants are never meant */
function select(filter: GrantFilter, list: string, rest: string): Query {
  if (Object.values(filter).every((value) => value === undefined))
    throw new Error('a filter of grants is required');
  const where = `${whereOf(CONDITIONS, filter)} ${rest}`;
  return statement<GrantFilter>('', `select ${list} from grants g where ${where}`)(filter);
}

export interface ListedGrant extends Grant, Record<'login' | 'clientName' | 'after', string> {
  readonly externalId: string | null;
}

/** Grants in any state, with their user, the application's name and their place (`after`), newest first, in pages. @param limit how many; null for all */
export function listGrants(pool: pg.Pool, filter: GrantFilter, limit: number | null) {
  const list = `${GRANT_COLUMNS}, (select login from users u where u.user_id = g.user_id) as login,
    (select external_id from users u where u.user_id = g.user_id) as "externalId",
    (select name from clients c where c.client_id = g.client_id) as "clientName",
    ${microsSql('g.confirmed_at')} || '.' || g.grant_id as after`;
  const order = `order by confirmed_at desc, grant_id limit ${limit}`;
  return queryPages<ListedGrant>(pool, select(filter, list, order));
}

/** One grant in any state, like {@link listGrants}; null if unknown. */
export async function findListedGrant(pool: pg.Pool, grantId: string): Promise<ListedGrant | null> {
  for await (const [grant = null] of listGrants(pool, { grantId }, 1)) return grant;
  return null;
}

const IDS_AT_ONCE = 10_000;

/** The ids of live grants, in key order, in pages. The reader may pause: between them no connection is held. */
export async function* findLiveGrants(pool: pg.Pool, filter: GrantFilter) {
  const rest = `and ${IS_LIVE} order by grant_id limit ${IDS_AT_ONCE}`;
  let page: string[] = [];
  do {
    const query = select({ ...filter, behind: page.at(-1) }, 'grant_id as id', rest);
    page = (await queryLong<{ id: string }>(pool, query, 0)).map(({ id }) => id);
    yield page;
  } while (page.length === IDS_AT_ONCE);
}

/** An event that ends earlier authorizations of a grant. */
export interface GrantEnd {
  readonly grantId: string;
  readonly at: Date;
  /** True for an approval, which ends the earlier one and not itself. */
  readonly isApproval: boolean;
  /** The scope that a lowering left; null for an end. */
  readonly lowered: string | null;
}

// An authorization precedes its own event, by at most its statement's time.
const findEnded = batchStatement<GrantEnd>(
  '',
  `
select distinct g.grant_id as id, g.user_id as "userId"
  from @input(grant_id uuid, at timestamptz, is_approval boolean, lowered text) join grants g using (grant_id)
 where g.confirmed_at < input.at - case when is_approval then interval '10 seconds' else interval '0' end
   and input.lowered is distinct from g.scope and ${IS_LIVE}`,
);

/** From grants with an end or a new approval: those that are live in an earlier authorization. */
export const findRevivedGrants = (pool: pg.Pool, ends: readonly GrantEnd[]) =>
  queryLong<{ id: string; userId: string }>(pool, findEnded(ends));

/** From imported tokens: the live grants that still have them. */
export const findImportedGrants = findLong<{ digests: readonly Digest[] }, { id: string; userId: string }>(
  'grant-find-imported',
)`
  select g.grant_id as id, g.user_id as "userId" from imported_tokens i join grants g using (grant_id, token_hash)
   where i.token_hash = any (@digests::bytea[]) and ${IS_LIVE}`;

export async function countLiveGrants(pool: pg.Pool, filter: GrantFilter) {
  const counts = 'count(*)::int as grants, count(distinct user_id)::int as people';
  const query = select(filter, counts, `and ${IS_LIVE}`);
  const [row = { grants: 0, people: 0 }] = await queryLong<{ grants: number; people: number }>(pool, query);
  return row;
}
