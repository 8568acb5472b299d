import { MAX_SUMMED_SCOPE_CHARACTERS } from '../../rules/common/limits.ts';
import type { Status } from '../../rules/request/client.ts';
import type { Digest } from '../../secrets/digest.ts';
import { GRANT_COLUMNS, type Grant, IS_LIVE, spendsSql } from '../common/grants.ts';
import { SESSION_IS_VALID } from '../common/sessions.ts';
import { findAll, write } from '../database/query.ts';

/** A live grant for its user. */
export interface AccountGrant extends Grant {
  readonly clientName: string;
  /** Its logo's file; null for none. */
  readonly clientLogo: string | null;
  /** A blocked application can't use its grants. */
  readonly clientStatus: Status;
}

interface Wanted {
  readonly userId: string;
  /** Null for all applications. */
  readonly clientId: string | null;
  /** The only one; null for all. */
  readonly grantId: string | null;
  /** A grant of the same user; null for none. */
  readonly olderThan: string | null;
  readonly most: number;
}

/** A user's live grants, newest first; one more than `most` if there are more. */
// Without `olderThan` the first element decides: no time equals infinity.
export const findAccountGrants = findAll<Wanted, AccountGrant>('account-grant-find')`
select ${GRANT_COLUMNS}, c.name as "clientName", c.logo as "clientLogo", c.status as "clientStatus"
  from grants g join clients c using (client_id)
 where g.user_id = @userId and (@clientId::text is null or client_id = @clientId) and ${IS_LIVE}
   and (@grantId::uuid is null or grant_id = @grantId)
   and (g.confirmed_at, g.grant_id) < (
         coalesce((select confirmed_at from grants where user_id = @userId and grant_id = @olderThan), 'infinity'), @olderThan)
 order by g.confirmed_at desc, g.grant_id desc limit @most + 1`;

/** An application with live grants of a user. */
export interface AccountClient
  extends Pick<AccountGrant, 'clientId' | 'clientName' | 'clientLogo' | 'clientStatus' | 'lastUsedOn'> {
  readonly live: number;
  /** Of those that spend; null if too long to read. */
  readonly scopes: readonly string[] | null;
}

/** By the newest grant. Approvals read all grants of their user, too. @param clientId null for all applications */
export const findAccountClients = findAll<Pick<Wanted, 'userId' | 'clientId'>, AccountClient>(
  'account-client-find',
)`
select client_id as "clientId", c.name as "clientName", c.logo as "clientLogo", c.status as "clientStatus",
       to_char(used, 'YYYY-MM-DD') as "lastUsedOn", live,
       case when length(scopes::text) <= ${MAX_SUMMED_SCOPE_CHARACTERS} then scopes end as scopes
  from (select client_id, count(*)::int as live, max(confirmed_at) as newest, max(last_used_on) as used,
               coalesce(json_agg(scope) filter (where ${spendsSql('scope')}), '[]') as scopes
          from grants g
         where user_id = @userId and (@clientId::text is null or client_id = @clientId) and ${IS_LIVE}
         group by client_id) counted
  join clients c using (client_id) order by newest desc, client_id`;

/** One row if the user has no live grant, however old, and no other session; none otherwise. */
export const countStoppedAccount = write<{ userId: string; sessionHash: Digest }>('account-is-stopped')`
select where not exists (
         select from grants g where user_id = @userId and ${IS_LIVE})
   and not exists (
         select from sessions s where s.user_id = @userId and s.session_hash <> @sessionHash and ${SESSION_IS_VALID})`;
