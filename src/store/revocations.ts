import { type Database, select } from './database.ts';

// Rows are locked in the order of their keys, like everywhere, so that two of these can't block each other.
const revokeOfUser = {
  name: 'grant-revoke-of-user',
  text: `
with held as (
  select grant_id from grants where user_id = $1 and ($2::uuid is null or grant_id = $2)
   order by grant_id for no key update
), revoked as (
  update grants g set revoked_at = clock_timestamp(), revision = g.revision + 1
    from held where g.grant_id = held.grant_id and g.revoked_at is null
  returning g.grant_id, g.user_id, g.client_id, g.instance_name
)
insert into audit_events (kind, grant_id, user_id, client_id, instance_name)
select 'revoked_by_user', * from revoked
returning grant_id as "grantId"`,
};

/**
 * The user disconnects an application instance, or all of them when `grantId` is null.
 *
 * @returns the ids of what is revoked now and was not before
 */
export async function revokeGrantsOfUser(
  db: Database,
  userId: string,
  grantId: string | null,
): Promise<string[]> {
  const rows = await select<{ grantId: string }>(db, revokeOfUser, [userId, grantId]);
  return rows.map((row) => row.grantId);
}

const revokeByOperator = {
  name: 'grant-revoke-by-operator',
  text: `
with revoked as (
  update grants set revoked_at = clock_timestamp(), revision = revision + 1
   where grant_id = $1 and revoked_at is null
  returning grant_id, user_id, client_id, instance_name
), logged as (
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name)
  select 'revoked_by_operator', * from revoked
)
select grant_id in (select grant_id from revoked) as revoked from grants where grant_id = $1`,
};

/** @returns `found`: there is such a grant; `revoked`: it is revoked now and was not before */
export async function revokeGrant(
  db: Database,
  grantId: string,
): Promise<{ found: boolean; revoked: boolean }> {
  const [row] = await select<{ revoked: boolean }>(db, revokeByOperator, [grantId]);
  return { found: row !== undefined, revoked: row?.revoked ?? false };
}
