import type pg from 'pg';
import type { Digest } from '../secrets/digest.ts';
import type { Caller } from './auditEvents.ts';
import { batched } from './batch.ts';
import { decide, inOrder, momentOf, TooLateError } from './database.ts';
import { COUNT_DECISION, MAY_DECIDE } from './decisions.ts';
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

/** Of `grants g`: its code can still be exchanged. */
const CODE_IS_USABLE =
  'g.token_hash is null and g.revoked_at is null and g.code_expires_at > clock_timestamp()';

// The guard is `revision = what the page showed`: of many forms for one key exactly one writes, and what it writes takes
// the place of the earlier code and token (contract section 3). `judged` reads rows as they are and locks none. Then users,
// sessions and grants are locked, each kind in the order of its keys; the user's lock makes the user's approvals wait for
// each other, so that `may_hold` counts what the one before has written, and the session is read again under it.
//
// No deadlock: every statement that locks rows of several of these tables takes users before sessions before grants, and all
// of a kind in order; those that don't (sign-out, removing a user) lock rows of one user, of whom a batch holds one session.
// A removed client is blocked first, so only approvals from before that can meet its removal; a deadlock is asked again.
const approve = {
  name: 'grant-approve',
  text: `
with asked as materialized (
  select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::int[], $5::text[], $6::int[], $7::text[], $8::jsonb[],
                       $9::text[], $10::bytea[], $11::float8[], $12::text[], $13::bytea[], $14::bytea[], $15::int[],
                       $16::text[], $17::text[]) with ordinality
           as a (grant_id, user_id, client_id, client_revision, instance_name, revision, scope, limits,
                 redirect_uri, code_hash, code_lifetime, code_challenge, session_hash, request_digest, most_instances,
                 address, reference, n)
), judged as materialized (  -- offset 0: see sessions.ts
  select a.*, c.revision is not null and u.user_id is not null as is_allowed, s.session_hash is not null as stands, u.may_decide,
         g.code_hash = a.code_hash as is_there, ${CODE_IS_USABLE} as is_usable,
         c.revision = a.client_revision and coalesce(g.revision, 0) = a.revision as is_current
    from asked a
    left join lateral (select * from clients where client_id = a.client_id and status = 'active' offset 0) c on true
    left join lateral (select u.*, ${MAY_DECIDE} as may_decide from users u
                        where u.user_id = a.user_id and u.status = 'active' offset 0) u on true
    left join lateral (select * from sessions where session_hash = a.session_hash offset 0) s
           on s.user_id = a.user_id and ${STANDS}
    left join lateral (select * from grants where user_id = a.user_id and grant_id = a.grant_id offset 0) g on true
), locked as materialized (
  select u.user_id from users u
   where u.user_id = any (array(select user_id from judged where is_allowed and stands and may_decide and is_current))
     and u.status = 'active' and ${MAY_DECIDE}
   order by u.user_id for no key update
), holder as (
  update users u set ${COUNT_DECISION} where u.user_id = any (array(select user_id from locked)) returning u.user_id
), held as materialized (
  select s.session_hash from sessions s
   where s.session_hash = any (array(select session_hash from judged join holder using (user_id))) and ${STANDS}
   order by s.session_hash for key share
), ${momentOf('$18', 'holder', 'held')}, room as materialized (
  select judged.*, may_hold(grant_id, user_id, client_id, most_instances) as is_enough
    from judged join holder using (user_id) join held using (session_hash), moment where not late
), written as (
  insert into grants as g (grant_id, user_id, client_id, instance_name, revision, scope, redirect_uri,
                           code_hash, code_expires_at, code_challenge, confirmed_at, client_revision)
  select grant_id, user_id, client_id, instance_name, revision + 1, scope, redirect_uri, code_hash,
         clock_timestamp() + make_interval(secs => code_lifetime), code_challenge, clock_timestamp(), client_revision
    from room where is_enough order by grant_id
  on conflict (grant_id) do update
     set revision = excluded.revision, scope = excluded.scope, redirect_uri = excluded.redirect_uri,
         code_hash = excluded.code_hash, code_challenge = excluded.code_challenge, confirmed_at = clock_timestamp(),
         -- the code's lifetime begins when the row is locked
         code_expires_at = clock_timestamp() + (excluded.code_expires_at - excluded.confirmed_at),
         client_revision = excluded.client_revision, token_hash = null, token_issued_at = null, revoked_at = null
   where g.revision = excluded.revision - 1 and clock_timestamp() < $18::timestamptz  -- asked again when the row is locked
     and (g.user_id, g.client_id) = (excluded.user_id, excluded.client_id)
     and g.instance_name is not distinct from excluded.instance_name
  returning grant_id, user_id, client_id, instance_name, scope, revision
), unconfirmed as (  -- the payment password confirmed this one authorization, not the next
  update sessions s set confirmed_request = null, confirmed_at = null
   where s.session_hash = any (array(select session_hash from room join written using (grant_id)))
     and exists (select from room r where r.session_hash = s.session_hash and r.request_digest = s.confirmed_request)
), logged as (
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, limits, address, reference)
  select case w.revision when 1 then 'approved' else 'approved_again' end,
         w.grant_id, w.user_id, w.client_id, w.instance_name, w.scope, r.limits, r.address, r.reference
    from written w join room r using (grant_id)
)
select j.n::int as n,
       case when w.grant_id is not null then 'written'
            when not j.is_allowed then 'blocked'
            when not j.stands then 'ended'
            when j.is_there then case when j.is_usable then 'written' else 'spent' end
            when not j.may_decide then 'too many'
            when not r.is_enough then 'full'
            when j.is_current then 'overtaken'
            else 'stale' end as verdict,
       -- an approval that was asked again after a lost answer is there already
       w.grant_id is null and j.is_there is not true and clock_timestamp() >= $18::timestamptz as late
  from judged j left join room r on r.n = j.n left join written w on w.grant_id = r.grant_id`,
};

/** What came of an approval, and why nothing when nothing was written. */
export type ApprovalVerdict =
  /** Its code is there, now or since the same form was sent before, and can be exchanged. */
  | 'written'
  /** The client or the user is blocked. */
  | 'blocked'
  /** The session is over. */
  | 'ended'
  /** The code of this very form was there before, and is used, revoked or too old. */
  | 'spent'
  /** The user has decided too much in a short time. */
  | 'too many'
  /** The user has as many live authorizations of this application as one may have. */
  | 'full'
  /** The grant or the client is not as the page showed it. */
  | 'stale';

interface ApprovalAnswer {
  readonly n: number;
  /** `overtaken`: a row was changed by another server after this statement began, so what is there now was not seen. */
  readonly verdict: ApprovalVerdict | 'overtaken';
  readonly late: boolean;
}

const approveBatched = batched(approveGrants, { rowOf: ({ userId }: Approval) => userId });

/**
 * Writes an approval, unless it is there already: the same form twice is one approval and one answer.
 *
 * @throws {TooLateError}
 */
export async function approveGrant(pool: pg.Pool, approval: Approval): Promise<ApprovalVerdict> {
  const first = await approveBatched(pool, approval);
  const again = first.verdict === 'overtaken' && !first.late;
  const { verdict, late } = again ? await approveBatched(pool, approval) : first;
  if (late) throw new TooLateError();
  return verdict === 'overtaken' ? 'stale' : verdict;
}

/** Approvals of different users. @returns an answer for each, in the same order */
async function approveGrants(pool: pg.Pool, approvals: readonly Approval[]): Promise<ApprovalAnswer[]> {
  const values = [
    approvals.map(({ grantId }) => grantId),
    approvals.map(({ userId }) => userId),
    approvals.map(({ clientId }) => clientId),
    approvals.map(({ clientRevision }) => clientRevision),
    approvals.map(({ instanceName }) => instanceName),
    approvals.map(({ revision }) => revision),
    approvals.map(({ scope }) => scope),
    approvals.map(({ limits }) => JSON.stringify(limits)),
    approvals.map(({ redirectUri }) => redirectUri),
    approvals.map(({ codeHash }) => codeHash),
    approvals.map(({ codeLifetimeSeconds }) => codeLifetimeSeconds),
    approvals.map(({ codeChallenge }) => codeChallenge),
    approvals.map(({ sessionHash }) => sessionHash),
    approvals.map(({ requestDigest }) => requestDigest),
    approvals.map(({ mostInstances }) => mostInstances),
    approvals.map(({ caller }) => caller.address),
    approvals.map(({ caller }) => caller.reference),
  ];
  const decideBy = Math.min(...approvals.map(({ caller }) => caller.decideBy));
  const rows = await decide<ApprovalAnswer>(pool, approve, values, decideBy);
  return inOrder(approvals, rows).map((row, index) => {
    if (row === null) throw new Error(`grants: no verdict for the approval of ${approvals[index]?.grantId}`);
    return row;
  });
}
