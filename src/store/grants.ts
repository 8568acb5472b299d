import type { GrantTimes } from '../oauth/grantState.ts';
import type { Caller } from './auditEvents.ts';
import { type Bytea, type Database, decideOne, momentOf, select, selectEach, selectOne } from './database.ts';

/** The authorization of one user for one application instance, in whatever state it is. */
export interface Grant extends GrantTimes {
  readonly grantId: string;
  readonly userId: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly instanceName: string | null;
  readonly revision: number;
  readonly scope: string;
  readonly confirmedAt: Date;
  /** The database's clock when this was read. */
  readonly now: Date;
}

const GRANT_COLUMNS = `g.grant_id as "grantId", g.user_id as "userId", g.client_id as "clientId", c.name as "clientName",
  g.instance_name as "instanceName", g.revision, g.scope, g.confirmed_at as "confirmedAt",
  g.code_expires_at as "codeExpiresAt", g.token_issued_at as "tokenIssuedAt", g.revoked_at as "revokedAt",
  clock_timestamp() as now`;

const find = {
  name: 'grant-find',
  text: `select a.n::int as n, ${GRANT_COLUMNS}
           from unnest($1::uuid[]) with ordinality as a (grant_id, n)
          cross join lateral (select * from grants where grant_id = a.grant_id offset 0) g
           join clients c using (client_id)`, // offset 0: see sessions.ts
};

/** The grants with these ids, in the same order; null where a user never allowed that application instance anything. */
export function findGrants(db: Database, grantIds: readonly string[]): Promise<(Grant | null)[]> {
  return selectEach<Grant>(db, find, grantIds, [grantIds]);
}

const findOfUser = {
  name: 'grant-find-of-user',
  text: `select ${GRANT_COLUMNS} from grants g join clients c using (client_id)
          where g.user_id = $1 order by g.confirmed_at desc, g.grant_id`,
};

/** All grants of a user, newest first. */
export function findGrantsOfUser(db: Database, userId: string): Promise<Grant[]> {
  return select<Grant>(db, findOfUser, [userId]);
}

/** What approval writes. */
export interface Approval {
  readonly grantId: string;
  readonly userId: string;
  readonly clientId: string;
  /** The revision of the client that the page showed. */
  readonly clientRevision: number;
  readonly instanceName: string | null;
  /** The revision that the page showed; 0 when there was no grant yet. */
  readonly revision: number;
  readonly scope: string;
  /** What the scope allows to spend, as data: for the audit trail, whatever the rules say later. */
  readonly limits: readonly object[];
  readonly redirectUri: string;
  readonly codeHash: Bytea;
  readonly codeLifetimeSeconds: number;
  readonly codeChallenge: string | null;
  /** The confirmation by the payment password that this approval uses up: of this session, for this request. */
  readonly sessionHash: Bytea;
  readonly requestDigest: Bytea;
  readonly caller: Caller;
}

// The guard is `revision = what the page showed`: of many forms for one key exactly one writes, and what it
// writes takes the place of the earlier code and token (contract section 3). A row never vanishes under a page
// that showed it: it goes only with its user or client, whose ids are not given again.
const approve = {
  name: 'grant-approve',
  text: `
with allowed as (
  select c.revision from clients c, users u
   where c.client_id = $3 and c.status = 'active' and u.user_id = $2 and u.status = 'active'
), held as (
  select session_hash from sessions where session_hash = $11 and confirmed_request = $12 for no key update
), ${momentOf('$17', 'held')}, written as (
  insert into grants as g (grant_id, user_id, client_id, instance_name, revision, scope, redirect_uri,
                           code_hash, code_expires_at, code_challenge, confirmed_at, client_revision)
  select $1, $2, $3, $4, 1, $6, $7, $8, clock_timestamp() + make_interval(secs => $9), $10, clock_timestamp(), $16
    from allowed, moment where not late and allowed.revision = $16
  on conflict (grant_id) do update
     set revision = g.revision + 1, scope = excluded.scope, redirect_uri = excluded.redirect_uri,
         code_hash = excluded.code_hash, code_expires_at = clock_timestamp() + make_interval(secs => $9),
         code_challenge = excluded.code_challenge, confirmed_at = clock_timestamp(),
         client_revision = excluded.client_revision, token_hash = null, token_issued_at = null, revoked_at = null
   where g.revision = $5 and clock_timestamp() < $17::timestamptz  -- asked again when the row is locked
     and (g.user_id, g.client_id) = (excluded.user_id, excluded.client_id)
     and g.instance_name is not distinct from excluded.instance_name
  returning grant_id, user_id, client_id, instance_name, scope, revision
), unconfirmed as (  -- the payment password confirmed this one authorization, not the next
  update sessions set confirmed_request = null, confirmed_at = null
   where session_hash = (select session_hash from held) and exists (select from written)
), logged as (
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, limits, address, reference)
  select case revision when 1 then 'approved' else 'approved_again' end,
         grant_id, user_id, client_id, instance_name, scope, $13, $14, $15
    from written
)
select exists (select from written) as written, exists (select from allowed) as allowed,
       not exists (select from written) and clock_timestamp() >= $17::timestamptz
         -- an approval that was asked again after a lost answer is there already
         and not exists (select from grants where grant_id = $1 and code_hash = $8) as late`,
};

/**
 * Asked twice it does no harm: the second finds another revision than the page showed.
 *
 * @returns `written`: this approval stands now; `allowed`: neither the client nor the user is blocked
 * @throws {TooLateError}
 */
export function approveGrant(
  db: Database,
  approval: Approval,
): Promise<{ written: boolean; allowed: boolean }> {
  const values = [
    approval.grantId,
    approval.userId,
    approval.clientId,
    approval.instanceName,
    approval.revision,
    approval.scope,
    approval.redirectUri,
    approval.codeHash,
    approval.codeLifetimeSeconds,
    approval.codeChallenge,
    approval.sessionHash,
    approval.requestDigest,
    JSON.stringify(approval.limits),
    approval.caller.address,
    approval.caller.reference,
    approval.clientRevision,
  ];
  return decideOne(db, approve, values, approval.caller.decideBy);
}

const standing = {
  name: 'grant-standing',
  text: `
select code_hash = $2 as same,
       token_hash is null and revoked_at is null and code_expires_at > clock_timestamp() as usable
  from grants where grant_id = $1`,
};

/**
 * Asked after an approval wrote nothing, as a statement of its own so that it sees what was written meanwhile.
 *
 * @returns `same`: the row holds the very code of this approval; `usable`: that code can still be exchanged
 */
export async function findStanding(
  db: Database,
  grantId: string,
  codeHash: Bytea,
): Promise<{ same: boolean; usable: boolean }> {
  const row = await selectOne<{ same: boolean; usable: boolean }>(db, standing, [grantId, codeHash]);
  return row ?? { same: false, usable: false };
}

/** What a refusal notes: the same as an approval, of which it does nothing. */
export type Denial = Pick<
  Approval,
  'grantId' | 'userId' | 'clientId' | 'instanceName' | 'codeHash' | 'scope' | 'limits' | 'caller'
>;

const deny = {
  name: 'grant-deny',
  text: `
with standing as (
  select exists (select from grants where grant_id = $1 and code_hash = $5) as allowed,
         clock_timestamp() >= $10::timestamptz as late
), noted as (
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, limits, address, reference)
  select 'refused', $1::uuid, $2, $3, $4, $6, $7, $8, $9 from standing where not allowed and not late
)
select allowed, late and not allowed as late from standing`,
};

/**
 * Notes a refusal. It annuls nothing.
 *
 * @param codeHash what the page's own Allow would have stored
 * @returns false when that Allow was taken already, so that refusing comes too late
 * @throws {TooLateError}
 */
export async function denyGrant(db: Database, denial: Denial): Promise<boolean> {
  const { grantId, userId, clientId, instanceName, codeHash, scope, limits, caller } = denial;
  const about = [grantId, userId, clientId, instanceName, codeHash, scope, JSON.stringify(limits)];
  const values = [...about, caller.address, caller.reference];
  const { allowed } = await decideOne<{ allowed: boolean }>(db, deny, values, caller.decideBy);
  return !allowed;
}
