import { MAX_SUMMED_SCOPE_CHARACTERS } from '../../rules/common/limits.ts';
import type { Status } from '../../rules/request/client.ts';
import type { Digest } from '../../secrets/digest.ts';
import { GRANT_COLUMNS, type Grant, IS_LIVE, spendsIn } from '../common/grants.ts';
import { SESSION_IS_VALID } from '../common/sessions.ts';
import type { Database } from '../database/database.ts';
import { findAll, write } from '../database/query.ts';

/** A live grant for its user. */
export interface AccountGrant extends Grant {
  readonly clientName: string;
  /** Its logo's file; null for none. */
  readonly clientLogo: string | null;
  /** A blocked application can't use its grants. */
  readonly clientStatus: Status;
}

/** Grants read, live or not: bounds the cost of a page, however many a user has. */
const MAX_GRANTS_READ = 500;

interface Wanted {
  readonly userId: string;
  /** A grant of the same user; null for none. */
  readonly olderThan: string | null;
  readonly most: number;
}

// Without `olderThan` the first element decides: no time equals infinity.
const IN_ORDER = 'order by g.confirmed_at desc, g.grant_id desc';
const find = findAll<Wanted, AccountGrant & { live: boolean; last: boolean }>('account-grant-find')`
with passed as (
  select g.*, row_number() over (${IN_ORDER}) as n
    from grants g
   where g.user_id = @userId and (g.confirmed_at, g.grant_id) < (
           coalesce((select confirmed_at from grants where user_id = @userId and grant_id = @olderThan), 'infinity'), @olderThan)
   ${IN_ORDER} limit ${MAX_GRANTS_READ}
)
select ${GRANT_COLUMNS}, c.name as "clientName", c.logo as "clientLogo", c.status as "clientStatus",
       ${IS_LIVE} as live, g.n = ${MAX_GRANTS_READ} as last
  from passed g join clients c using (client_id)
 where ${IS_LIVE} or g.n = ${MAX_GRANTS_READ}
 order by g.n limit @most + 1`;

/** A user's live grants, newest first, and the id to continue at if there may be more. */
export async function findAccountGrants(db: Database, wanted: Wanted) {
  const { most } = wanted;
  const rows = await find(db, wanted);
  const found: AccountGrant[] = rows.filter(({ live }) => live).slice(0, most);
  const hasMore = rows.length > most || rows.at(-1)?.last === true;
  return { found, nextFrom: hasMore ? (rows[Math.min(most, rows.length) - 1]?.grantId ?? null) : null };
}

const MAX_GRANTS_COUNTED = 1_000;

/** A user's live grants of an application; `orMore` if only the newest were counted. */
interface GrantCount {
  readonly clientId: string;
  readonly live: number;
  readonly orMore: boolean;
  /** Of those that spend; null if too long to read. */
  readonly scopes: readonly string[] | null;
}

export const countAccountGrants = findAll<{ userId: string; clientIds: readonly string[] }, GrantCount>(
  'account-grant-count',
)`
with read as materialized (
  select * from grants where user_id = @userId order by confirmed_at desc limit ${MAX_GRANTS_COUNTED}
)
select client_id as "clientId", (select count(*) from read) = ${MAX_GRANTS_COUNTED} as "orMore",
       live, case when length(scopes::text) <= ${MAX_SUMMED_SCOPE_CHARACTERS} then scopes end as scopes
  from unnest(@clientIds::text[]) as c (client_id) cross join lateral (
    select count(*)::int as live, coalesce(json_agg(scope) filter (where ${spendsIn('scope')}), '[]') as scopes
      from read g where g.client_id = c.client_id and ${IS_LIVE}) counted`;

/** One row if the user has no live grant, however old, and no other session; none otherwise. */
export const isAccountStopped = write<{ userId: string; sessionHash: Digest }>('account-is-stopped')`
select where not exists (
         select from grants g where user_id = @userId and ${IS_LIVE})
   and not exists (
         select from sessions s where s.user_id = @userId and s.session_hash <> @sessionHash and ${SESSION_IS_VALID})`;
