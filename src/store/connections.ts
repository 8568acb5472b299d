import { asciiOnly, type Database, query, queryOne } from './database.ts';
import { GRANT_COLUMNS, type Grant, LIVE } from './grants.ts';

/** A live grant as its user sees it. */
export interface Connection extends Grant {
  readonly clientName: string;
  /** A blocked application can't do anything with what it was allowed. */
  readonly clientStatus: 'active' | 'blocked';
}

/** Which grants to look through: those older or newer than one of the same user, from the newest when it is null. */
export interface Cursor {
  readonly direction: 'older' | 'newer';
  readonly grantId: string | null;
}

/** So many grants are looked through at once, live or not: what a user has collected costs others nothing. */
const MAX_READ = 500;
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

function find(name: string, beyond: '<' | '>', order: 'asc' | 'desc') {
  const inOrder = `order by g.confirmed_at ${order}, g.grant_id ${order}`;
  return {
    name,
    text: `
with place as (
  select coalesce((select confirmed_at from grants where user_id = $1 and grant_id = $2), 'infinity') as confirmed_at,
         coalesce($2, '${LAST_ID}') as grant_id
), passed as (
  select g.*, row_number() over (${inOrder}) as n
    from grants g
   where g.user_id = $1 and (g.confirmed_at, g.grant_id) ${beyond} (select confirmed_at, grant_id from place)
   ${inOrder} limit ${MAX_READ}
)
select ${GRANT_COLUMNS}, c.name as "clientName", c.status as "clientStatus",
       ${LIVE} as live, g.n = ${MAX_READ} as last
  from passed g join clients c using (client_id)
 where ${LIVE} or g.n = ${MAX_READ}
 order by g.n limit $3 + 1`,
  };
}

const FIND = {
  older: find('connection-find-older', '<', 'desc'),
  newer: find('connection-find-newer', '>', 'asc'),
};

/**
 * The next live grants of a user, in the direction of the cursor.
 *
 * @returns at most `most`, and the id to go on from when there may be more
 */
export async function findConnections(
  db: Database,
  userId: string,
  { direction, grantId }: Cursor,
  most: number,
): Promise<{ found: Connection[]; goOnFrom: string | null }> {
  const rows = await query<Connection & { live: boolean; last: boolean }>(db, FIND[direction], [
    userId,
    grantId,
    most,
  ]);
  const found = rows.filter(({ live }) => live).slice(0, most);
  const goesOn = rows.length > most || rows.at(-1)?.last === true;
  return { found, goOnFrom: goesOn ? (rows[Math.min(most, rows.length) - 1]?.grantId ?? null) : null };
}

/** How many live grants an application has of a user; `orMore` when only the newest were looked at. */
export interface ConnectionCount {
  readonly clientId: string;
  readonly live: number;
  readonly orMore: boolean;
}

const MAX_COUNTED = 1_000;

const count = {
  name: 'connection-count',
  text: `
with read as materialized (
  select * from grants where user_id = $1 order by confirmed_at desc limit ${MAX_COUNTED}
)
select client_id as "clientId", (select count(*) from read) = ${MAX_COUNTED} as "orMore",
       (select count(*)::int from read g where g.client_id = c.client_id and ${LIVE}) as live
  from unnest($2::text[]) as c (client_id)`,
};

/** Counts what these applications may do for a user. */
export function countConnections(
  db: Database,
  userId: string,
  clientIds: readonly string[],
): Promise<ConnectionCount[]> {
  return query<ConnectionCount>(db, count, [userId, clientIds]);
}

const isTakenBack = {
  name: 'connection-is-taken-back',
  text: 'select from grants where user_id = $1 and grant_id = $2 and revoked_at is not null',
};

/** Whether this is a grant of the user and revoked. */
export async function isConnectionTakenBack(db: Database, userId: string, grantId: string): Promise<boolean> {
  return (await queryOne(db, isTakenBack, [userId, grantId])) !== undefined;
}

const areTakenBack = {
  name: 'connection-are-taken-back',
  text: `
select from (select * from grants where user_id = $1 order by confirmed_at desc limit ${MAX_COUNTED}) g
 where client_id = $2
having count(*) filter (where revoked_at is not null) > 0 and count(*) filter (where ${LIVE}) = 0`,
};

/** Whether the user had allowed this application something, and nothing of it is live. Looks at the newest grants. */
export async function areConnectionsTakenBack(
  db: Database,
  userId: string,
  clientId: string,
): Promise<boolean> {
  return (await queryOne(db, areTakenBack, [userId, asciiOnly(clientId)])) !== undefined;
}
