import type { Status } from '../rules/client.ts';
import type { Digest } from '../secrets/digest.ts';
import type { Database } from './database/database.ts';
import { asciiOnly, execute, query } from './database/query.ts';
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

const isRevoked = statement<{ userId: string; grantId: string }>(
  'account-grant-is-revoked',
  'select from grants where user_id = @userId and grant_id = @grantId and revoked_at is not null',
);

/** Whether this is a grant of the user and revoked. */
export async function isGrantRevoked(db: Database, userId: string, grantId: string): Promise<boolean> {
  return (await execute(db, isRevoked({ userId, grantId }))) > 0;
}

const areRevoked = statement<{ userId: string; clientId: string }>(
  'account-grant-are-revoked',
  `
select from (select * from grants where user_id = @userId order by confirmed_at desc limit ${MAX_COUNTED}) g
 where client_id = @clientId
having count(*) filter (where revoked_at is not null) > 0 and count(*) filter (where ${IS_LIVE}) = 0`,
);

/** Whether this application has revoked grants of the user and no live one. Only the newest grants are read. */
export async function areGrantsRevoked(db: Database, userId: string, clientId: string): Promise<boolean> {
  return (await execute(db, areRevoked({ userId, clientId: asciiOnly(clientId) }))) > 0;
}

const isStopped = statement<{ userId: string; sessionHash: Digest }>(
  'account-is-stopped',
  `
select where not exists (
         select from (select * from grants where user_id = @userId order by confirmed_at desc limit ${MAX_COUNTED}) g where ${IS_LIVE})
   and not exists (
         select from sessions s where s.user_id = @userId and s.session_hash <> @sessionHash and ${SESSION_IS_VALID})`,
);

/** Whether no application can act on the user's account, of its newest grants, and no other browser is signed in. */
export async function isAccountStopped(db: Database, userId: string, sessionHash: Digest): Promise<boolean> {
  return (await execute(db, isStopped({ userId, sessionHash }))) > 0;
}
