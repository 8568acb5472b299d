import type { Status } from '../rules/client.ts';
import type { Digest } from '../secrets/digest.ts';
import type { Database } from './database/database.ts';
import { asciiOnly, execute, query, queryOne } from './database/query.ts';
import { statement } from './database/statement.ts';
import { GRANT_COLUMNS, type Grant, IS_LIVE } from './grants.ts';
import { SESSION_IS_VALID } from './sessions.ts';

/** A live grant as its user sees it. */
export interface AccountGrant extends Grant {
  readonly clientName: string;
  /** The file of its logo; null for none. */
  readonly clientLogo: string | null;
  /** A blocked application can't use its grants. */
  readonly clientStatus: Status;
}

/** Where a page begins: at grants older or newer than one of the same user, at the newest when it is null. */
export interface Cursor {
  readonly direction: 'older' | 'newer';
  readonly grantId: string | null;
}

/** Of grants, live or not: bounds the cost of a page, however many a user has. */
const MAX_READ = 500;
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

function find(name: string, beyond: '<' | '>', order: 'asc' | 'desc') {
  const inOrder = `order by g.confirmed_at ${order}, g.grant_id ${order}`;
  return statement<{ userId: string; grantId: string | null; most: number }>(
    name,
    `
with place as (
  select coalesce((select confirmed_at from grants where user_id = @userId and grant_id = @grantId), 'infinity') as confirmed_at,
         coalesce(@grantId, '${LAST_ID}') as grant_id
), passed as (
  select g.*, row_number() over (${inOrder}) as n
    from grants g
   where g.user_id = @userId and (g.confirmed_at, g.grant_id) ${beyond} (select confirmed_at, grant_id from place)
   ${inOrder} limit ${MAX_READ}
)
select ${GRANT_COLUMNS}, c.name as "clientName", c.logo as "clientLogo", c.status as "clientStatus",
       ${IS_LIVE} as live, g.n = ${MAX_READ} as last
  from passed g join clients c using (client_id)
 where ${IS_LIVE} or g.n = ${MAX_READ}
 order by g.n limit @most + 1`,
  );
}

const FIND = {
  older: find('account-grant-find-older', '<', 'desc'),
  newer: find('account-grant-find-newer', '>', 'asc'),
};

/**
 * The next live grants of a user, in the direction of the cursor.
 *
 * @returns at most `most`, and the id to go on from when there may be more
 */
export async function findAccountGrants(
  db: Database,
  userId: string,
  { direction, grantId }: Cursor,
  most: number,
): Promise<{ found: AccountGrant[]; nextFrom: string | null }> {
  const statement = FIND[direction]({ userId, grantId, most });
  const rows = await query<AccountGrant & { live: boolean; last: boolean }>(db, statement);
  const found = rows.filter(({ live }) => live).slice(0, most);
  const hasMore = rows.length > most || rows.at(-1)?.last === true;
  return { found, nextFrom: hasMore ? (rows[Math.min(most, rows.length) - 1]?.grantId ?? null) : null };
}

/** How many live grants of a user an application has; `orMore` when only the newest were counted. */
export interface GrantCount {
  readonly clientId: string;
  readonly live: number;
  readonly orMore: boolean;
}

const MAX_COUNTED = 1_000;

const count = statement<{ userId: string; clientIds: readonly string[] }>(
  'account-grant-count',
  `
with read as materialized (
  select * from grants where user_id = @userId order by confirmed_at desc limit ${MAX_COUNTED}
)
select client_id as "clientId", (select count(*) from read) = ${MAX_COUNTED} as "orMore",
       (select count(*)::int from read g where g.client_id = c.client_id and ${IS_LIVE}) as live
  from unnest(@clientIds::text[]) as c (client_id)`,
);

/** Counts the live grants of a user by application. */
export const countAccountGrants = (
  db: Database,
  userId: string,
  clientIds: readonly string[],
): Promise<GrantCount[]> => query(db, count({ userId, clientIds }));

/** What a user disconnected, and what is left of the application since. */
export interface Disconnected {
  readonly clientName: string;
  /** Null for a grant without a name, and for all of an application. */
  readonly instanceName: string | null;
  /** Live grants of the application; `orMore` when only the newest were counted. */
  readonly live: number;
  readonly orMore: boolean;
}

/** @param revoked a query for the `client_id` and `instance_name` of what is revoked; it may ask `newest` */
function findDisconnected(name: string, revoked: string) {
  return statement<{ userId: string; id: string }>(
    name,
    `
with newest as materialized (
  select * from grants where user_id = @userId order by confirmed_at desc limit ${MAX_COUNTED}
)
select c.name as "clientName", r.instance_name as "instanceName", (select count(*) from newest) = ${MAX_COUNTED} as "orMore",
       (select count(*)::int from newest g where g.client_id = r.client_id and ${IS_LIVE}) as live
  from (${revoked}) r join clients c using (client_id)`,
  );
}

const ofGrant = findDisconnected(
  'account-grant-disconnected',
  'select client_id, instance_name from grants where user_id = @userId and grant_id = @id and revoked_at is not null',
);

/** Whether this is a grant of the user and revoked: then what it is, else null. */
export const findDisconnectedGrant = (
  db: Database,
  userId: string,
  grantId: string,
): Promise<Disconnected | null> => queryOne(db, ofGrant({ userId, id: grantId }));

const ofClient = findDisconnected(
  'account-grant-disconnected-client',
  'select client_id, null::text as instance_name from newest where client_id = @id and revoked_at is not null limit 1',
);

/** Whether this application has revoked grants of the user: then its name and how many are live, else null. */
export const findDisconnectedClient = (
  db: Database,
  userId: string,
  clientId: string,
): Promise<Disconnected | null> => queryOne(db, ofClient({ userId, id: asciiOnly(clientId) }));

const isStopped = statement<{ userId: string; sessionHash: Digest }>(
  'account-is-stopped',
  `
select where not exists (
         select from grants g where user_id = @userId and ${IS_LIVE})
   and not exists (
         select from sessions s where s.user_id = @userId and s.session_hash <> @sessionHash and ${SESSION_IS_VALID})`,
);

/** Whether no application can act on the user's account, and no other browser is signed in. All grants count, however old. */
export async function isAccountStopped(db: Database, userId: string, sessionHash: Digest): Promise<boolean> {
  return (await execute(db, isStopped({ userId, sessionHash }))) > 0;
}
