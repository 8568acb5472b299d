import type { Digest } from '../secrets/digest.ts';
import type { Caller } from './auditEvents.ts';
import type { Database } from './database.ts';
import { COUNT_DECISION, MAY_DECIDE } from './decisions.ts';
import { decideOne, momentOf, queryOne } from './positional.ts';
import { STANDS } from './sessions.ts';

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
  readonly codeHash: Digest;
  readonly codeLifetimeSeconds: number;
  readonly codeChallenge: string | null;
  readonly sessionHash: Digest;
  /** The request whose confirmation by the payment password this approval uses up. */
  readonly requestDigest: Digest;
  /** How many live ones the user may have of this application. */
  readonly mostInstances: number;
  readonly caller: Caller;
}

// The guard is `revision = what the page showed`: of many forms for one key exactly one writes, and what it
// writes takes the place of the earlier code and token (contract section 3). A row never vanishes under a page
// that showed it: it goes only with its user or client, whose ids are not given again.
//
// What can be told from rows as they are locks none. Then come the locks, the user's before the session's like everywhere:
// counting the decision makes approvals of one user wait for each other, so that `may_hold` counts what the one before has
// written; and a session that was ended meanwhile is not there any more.
const approve = {
  name: 'grant-approve',
  text: `
with allowed as (
  select c.revision from clients c, users u
   where c.client_id = $3 and c.status = 'active' and u.user_id = $2 and u.status = 'active'
), session as materialized (
  select ${MAY_DECIDE} as may_decide from sessions s join users u using (user_id)
   where s.session_hash = $11 and s.user_id = $2 and ${STANDS}
), holder as (
  update users u set ${COUNT_DECISION}
   where u.user_id = $2 and u.status = 'active' and ${MAY_DECIDE} and exists (select from allowed where allowed.revision = $17)
     and exists (select from session where may_decide)
     and coalesce((select revision from grants where grant_id = $1), 0) = $5
  returning u.user_id
), held as (
  select s.session_hash from sessions s
   where s.session_hash = $11 and s.user_id = (select user_id from holder) and ${STANDS}
     for key share
), ${momentOf('$18', 'holder', 'held')}, room as materialized (
  select may_hold($1, $2, $3, $16) as enough from held, moment where not late
), written as (
  insert into grants as g (grant_id, user_id, client_id, instance_name, revision, scope, redirect_uri,
                           code_hash, code_expires_at, code_challenge, confirmed_at, client_revision)
  select $1, $2, $3, $4, 1, $6, $7, $8, clock_timestamp() + make_interval(secs => $9), $10, clock_timestamp(), $17
    from room where enough
  on conflict (grant_id) do update
     set revision = g.revision + 1, scope = excluded.scope, redirect_uri = excluded.redirect_uri,
         code_hash = excluded.code_hash, code_expires_at = clock_timestamp() + make_interval(secs => $9),
         code_challenge = excluded.code_challenge, confirmed_at = clock_timestamp(),
         client_revision = excluded.client_revision, token_hash = null, token_issued_at = null, revoked_at = null
   where g.revision = $5 and clock_timestamp() < $18::timestamptz  -- asked again when the row is locked
     and (g.user_id, g.client_id) = (excluded.user_id, excluded.client_id)
     and g.instance_name is not distinct from excluded.instance_name
  returning grant_id, user_id, client_id, instance_name, scope, revision
), unconfirmed as (  -- the payment password confirmed this one authorization, not the next
  update sessions s set confirmed_request = null, confirmed_at = null from written
   where s.session_hash = (select session_hash from held) and s.confirmed_request = $12
), logged as (
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, limits, address, reference)
  select case revision when 1 then 'approved' else 'approved_again' end,
         grant_id, user_id, client_id, instance_name, scope, $13, $14, $15
    from written
)
select case when exists (select from written) then 'written'
            when not exists (select from allowed) then 'blocked'
            when not exists (select from session) then 'ended'
            when exists (select from session where not may_decide) then 'too many'
            when exists (select from room where not enough) then 'full'
            else 'stale' end as verdict,
       not exists (select from written) and clock_timestamp() >= $18::timestamptz
         -- an approval that was asked again after a lost answer is there already
         and not exists (select from grants where grant_id = $1 and code_hash = $8) as late`,
};

/** What came of an approval, and why nothing when nothing was written. */
export type ApprovalVerdict =
  /** It stands now. */
  | 'written'
  /** The client or the user is blocked. */
  | 'blocked'
  /** The session is over. */
  | 'ended'
  /** The user has decided too much in a short time. */
  | 'too many'
  /** The user has as many live authorizations of this application as one may have. */
  | 'full'
  /** The grant is not as the page showed it. */
  | 'stale';

/**
 * Asked twice it does no harm: the second finds another revision than the page showed.
 *
 * @throws {TooLateError}
 */
export async function approveGrant(db: Database, approval: Approval): Promise<ApprovalVerdict> {
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
    approval.mostInstances,
    approval.clientRevision,
  ];
  const { decideBy } = approval.caller;
  return (await decideOne<{ verdict: ApprovalVerdict }>(db, approve, values, decideBy)).verdict;
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
  codeHash: Digest,
): Promise<{ same: boolean; usable: boolean }> {
  const row = await queryOne<{ same: boolean; usable: boolean }>(db, standing, [grantId, codeHash]);
  return row ?? { same: false, usable: false };
}
