import type { Caller } from './auditEvents.ts';
import { type Bytea, type Database, select, selectOne } from './database.ts';

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
  returning g.grant_id, g.user_id, g.client_id, g.instance_name, g.scope
)
insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, address, reference)
select 'revoked_by_user', revoked.*, $3, $4 from revoked
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
  { address, reference }: Caller,
): Promise<string[]> {
  const rows = await select<{ grantId: string }>(db, revokeOfUser, [userId, grantId, address, reference]);
  return rows.map((row) => row.grantId);
}

/** An application that gives a token back, with how it says who it is. */
export interface RevocationByClient {
  /** Null for a token that we can't have made. */
  readonly grantId: string | null;
  readonly tokenHash: Bytea;
  readonly clientId: string;
  /** SHA-256 of the client secret; null when none was sent. */
  readonly secretHash: Bytea | null;
  readonly caller: Caller;
}

const revokeByClient = {
  name: 'grant-revoke-by-client',
  text: `
with client as (
  select c.client_id from clients c
   where c.client_id = $3 and c.status = 'active'
     and (not c.verified or exists (
           select from client_secrets s
            where s.client_id = c.client_id and s.secret_hash = $4 and s.retired_at is null))
), revoked as (
  update grants set revoked_at = clock_timestamp(), revision = revision + 1
   where grant_id = $1 and token_hash = $2 and client_id = (select client_id from client) and revoked_at is null
  returning grant_id, user_id, client_id, instance_name, scope
), logged as (
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, address, reference)
  select 'revoked_by_application', revoked.*, $5, $6 from revoked
)
select exists (select from client) as authenticated`,
};

/** Revokes a token of the application itself. @returns whether the application is who it says */
export async function revokeTokenOfClient(db: Database, revocation: RevocationByClient): Promise<boolean> {
  const { grantId, tokenHash, clientId, secretHash, caller } = revocation;
  const values = [grantId, tokenHash, clientId, secretHash, caller.address, caller.reference];
  return (await selectOne<{ authenticated: boolean }>(db, revokeByClient, values))?.authenticated ?? false;
}

const revokeByBearer = {
  name: 'grant-revoke-by-bearer',
  text: `
with revoked as (
  update grants set revoked_at = clock_timestamp(), revision = revision + 1
   where grant_id = $1 and token_hash = $2 and revoked_at is null
  returning grant_id, user_id, client_id, instance_name, scope
)
insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, address, reference)
select 'revoked_by_application', revoked.*, $3, $4 from revoked`,
};

/** Revokes a token for whoever holds it. */
export async function revokeTokenOfBearer(
  db: Database,
  grantId: string,
  tokenHash: Bytea,
  { address, reference }: Caller,
): Promise<void> {
  await select(db, revokeByBearer, [grantId, tokenHash, address, reference]);
}

const revokeByOperator = {
  name: 'grant-revoke-by-operator',
  text: `
with revoked as (
  update grants set revoked_at = clock_timestamp(), revision = revision + 1
   where grant_id = $1 and revoked_at is null
  returning grant_id, user_id, client_id, instance_name, scope
), logged as (
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope)
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
