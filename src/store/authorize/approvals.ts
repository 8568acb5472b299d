import type pg from 'pg';
import { emit } from '../../signals/events.ts';
import {
  CALLER_FROM_COLUMNS,
  CALLER_INPUT_COLUMNS,
  EVENT_GRANT,
  insertEventsSql,
} from '../common/auditEvents.ts';
import {
  COUNT_DECISION,
  type Decision,
  type DecisionVerdict,
  IS_BELOW_DECISION_LIMIT,
} from '../common/decisions.ts';
import { CODE_IS_USABLE, IS_LIVE, spendsSql } from '../common/grants.ts';
import { SESSION_IS_VALID, sessionIdOf } from '../common/sessions.ts';
import { findOneBatched } from '../database/batch.ts';
import { batchedDecidingStatement, momentOf } from '../database/deadline.ts';

/** An approval of exactly the consent page's contents. */
export interface Approval extends Decision {
  readonly clientRevision: number;
  /** The grant's revision on the page; 0 if there was no grant yet. */
  readonly revision: number;
  /** The requested scope if another one is granted; null if it is the same. */
  readonly askedScope: string | null;
  readonly redirectUri: string;
  readonly codeLifetimeSeconds: number;
  readonly codeChallenge: string | null;
  readonly maxInstances: number;
  readonly confirmsPayments: boolean;
  readonly proof: DecisionConfirmation;
}

/** What confirmed the decision, checked just now; null for nothing. */
export type DecisionConfirmation =
  /** `hash`: the stored one that the payment password was compared with. */
  | { readonly by: 'payment_password'; readonly hash: string }
  /** `sub`: that of the provider's answer. */
  | { readonly by: 'provider'; readonly sub: string }
  | null;

type ApprovalVerdict =
  /** Its code exists, now or since an earlier submission of the same form, and can be exchanged. */
  | 'written'
  | 'blocked'
  /** Reject on the same page came first. */
  | 'rejected'
  | DecisionVerdict
  /** The code of this form existed before, and is used, revoked or expired. */
  | 'spent'
  /** The user has the maximum of live grants for this application. */
  | 'full'
  /** The grant or the client has changed since the page was shown, or spending is not confirmed. */
  | 'stale';

/** `changed_since_read`: another server changed a row after this statement began, so this didn't see its current state. */
type ApprovalResult = {
  readonly verdict: ApprovalVerdict | 'changed_since_read';
  /** `annulled`: the overwritten grant was live. */
  readonly written: boolean;
  readonly annulled: boolean;
};

/** For an approval `r` and its user `u`: spending requires a proof, if the user can give one (contract 5.1). The scope is read last. */
const IS_CONFIRMED = `((u.payment_password_hash is null and not r.confirms_payments)
  or coalesce(u.payment_password_hash = r.confirming_hash, false) or coalesce(u.external_id = r.confirming_id, false)
  or not ${spendsSql('r.scope')})`;

const CONFIRMED_BY = `case when confirming_hash is not null then 'payment_password' when confirming_id is not null then 'provider' end`;
/**
 * Of the event. Its session is named for the warnings of the user's other browsers, its browser for the receipt; what it `replaces`,
 * the scope of an authorization that was live, for messages.
 */
const DETAIL = `nullif(jsonb_strip_nulls(jsonb_build_object(
  'asked_scope', asked_scope, 'replaces', replaces, 'confirmed_by', confirmed_by, 'browser', browser, 'system', system,
  'session', case when confirmed_by is not null then ${sessionIdOf('session_hash')} end)), '{}')`;

// A page gives one code, for any typed sums: a second Allow, or Reject, finds the first; with other sums its page is stale.
// Optimistic locking: of many forms for one key the one with the row's current `revision` writes (contract section 3).
// The grant is not locked before: it may not exist yet, and two first approvals would both find nothing to lock. The conflict of
// the insert locks it, and `where` judges the row as it is then. `judged` locks nothing. A user's decisions wait for each other:
// `may_hold` and `answer_to` see the earlier ones (docs/develop/statements.md, docs/develop/runtime.md#locks).
const approve = batchedDecidingStatement<ApprovalResult, Approval>('grant-approve', ({ userId }) => userId, {
  confirming_hash: ({ proof }) => (proof?.by === 'payment_password' ? proof.hash : null),
  confirming_id: ({ proof }) => (proof?.by === 'provider' ? proof.sub : null),
})`
with requests as materialized (
  select * from @input(
    grant_id uuid, user_id uuid, client_id text, client_revision int, instance_name text, revision int, scope text, asked_scope text,
    limits jsonb, redirect_uri text, code_hash bytea, code_lifetime_seconds float8, code_challenge text, session_hash bytea,
    page bytea, max_instances int, confirms_payments boolean, confirming_hash text, confirming_id text, ${CALLER_INPUT_COLUMNS})
), judged as materialized (  -- offset 0: see ../common/sessions.ts
  select r.*, c.revision is not null and u.user_id is not null as is_allowed, s.session_hash is not null as session_is_valid, u.may_decide,
         s.browser, s.system,
         (g.code_hash, g.scope) = (r.code_hash, r.scope) as code_is_stored, ${CODE_IS_USABLE} as code_is_usable,
         ${IS_LIVE} as was_live, case when ${IS_LIVE} then g.scope end as replaces,
         c.revision = r.client_revision and coalesce(g.revision, 0) = r.revision and ${IS_CONFIRMED} as is_current
    from requests r
    left join lateral (select * from clients where client_id = r.client_id and status = 'active' offset 0) c on true
    left join lateral (select u.*, ${IS_BELOW_DECISION_LIMIT} as may_decide from users u
                        where u.user_id = r.user_id and u.status = 'active' offset 0) u on true
    left join lateral (select * from sessions where session_hash = r.session_hash offset 0) s
           on s.user_id = r.user_id and ${SESSION_IS_VALID}
    left join lateral (select * from grants where user_id = r.user_id and grant_id = r.grant_id offset 0) g on true
), locked as materialized (
  select u.user_id from users u
   where u.user_id = any (array(select user_id from judged where is_allowed and session_is_valid and may_decide and is_current))
     and u.status = 'active' and ${IS_BELOW_DECISION_LIMIT}
   order by u.user_id for no key update
), counted as (
  update users u set ${COUNT_DECISION} where u.user_id = any (array(select user_id from locked))
  returning u.user_id, u.payment_password_hash, u.external_id
), locked_sessions as materialized (
  select s.session_hash from sessions s
   where s.session_hash = any (array(select session_hash from judged join counted using (user_id))) and ${SESSION_IS_VALID}
   order by s.session_hash for no key update
), ${momentOf('counted', 'locked_sessions')}, capacity as materialized (
  select r.*, may_hold(grant_id, user_id, client_id, max_instances) as has_capacity, answer_to(page, grant_id, code_hash) as answer
    from judged r join counted u using (user_id) join locked_sessions s using (session_hash), moment
   where not late and ${IS_CONFIRMED}
), written as (
  insert into grants as g (grant_id, user_id, client_id, instance_name, revision, scope, redirect_uri,
                           code_hash, code_expires_at, code_challenge, confirmed_at, client_revision, lowered)
  select grant_id, user_id, client_id, instance_name, revision + 1, scope, redirect_uri, code_hash,
         clock_timestamp() + make_interval(secs => code_lifetime_seconds), code_challenge, clock_timestamp(), client_revision,
         asked_scope is not null
    from capacity where has_capacity and answer is null order by grant_id
  on conflict (grant_id) do update
     set revision = excluded.revision, scope = excluded.scope, redirect_uri = excluded.redirect_uri,
         code_hash = excluded.code_hash, code_challenge = excluded.code_challenge, confirmed_at = clock_timestamp(),
         -- the code's lifetime begins when the row is locked
         code_expires_at = clock_timestamp() + (excluded.code_expires_at - excluded.confirmed_at),
         client_revision = excluded.client_revision, lowered = excluded.lowered, token_hash = null, token_issued_at = null, revoked_at = null,
         last_used_on = null
   where g.revision = excluded.revision - 1 and clock_timestamp() < @deadline::timestamptz  -- checked again when the row is locked
     and (g.user_id, g.client_id) = (excluded.user_id, excluded.client_id)
     and g.instance_name is not distinct from excluded.instance_name
  returning grant_id, user_id, client_id, instance_name, scope, revision
), logged as (
  ${insertEventsSql(
    {
      kind: `case revision when 1 then 'approved' else 'approved_again' end`,
      ...EVENT_GRANT,
      limits: 'limits',
      detail: DETAIL,
      ...CALLER_FROM_COLUMNS,
    },
    `(select w.*, limits, asked_scope, replaces, address, reference, session_hash, browser, system, ${CONFIRMED_BY} as confirmed_by
        from written w join capacity using (grant_id)) w`,
  )}
)
select j.n::int as n,
       case when w.grant_id is not null then 'written'
            when not j.is_allowed then 'blocked'
            when not j.session_is_valid then 'ended'
            when j.code_is_stored then case when j.code_is_usable then 'written' else 'spent' end
            when not j.may_decide then 'too_many'
            when r.answer = 'rejected' then 'rejected'
            when not r.has_capacity then 'full'
            when j.is_current then 'changed_since_read'
            else 'stale' end as verdict,
       w.grant_id is not null as written, w.grant_id is not null and j.was_live is true as annulled,
       -- an approval that is retried after a lost answer is there already
       w.grant_id is null and j.code_is_stored is not true and clock_timestamp() >= @deadline::timestamptz as late
  from judged j left join capacity r on r.n = j.n left join written w on w.grant_id = r.grant_id`;

/** Writes an approval once: the same form sent twice is one approval with one response. @throws {OverloadedError} */
export async function approveGrant(pool: pg.Pool, approval: Approval): Promise<ApprovalVerdict> {
  const first = await approve(pool, approval);
  const again = first.verdict === 'changed_since_read';
  const { verdict, written, annulled } = again ? await approve(pool, approval) : first;
  if (written) emit('decision', 'approved');
  if (annulled) emit('grantEnd', 'approval');
  return verdict === 'changed_since_read' ? 'stale' : verdict;
}

/** The approval that stored this code, for exactly this scope; null for none. `isUsable`: the code can still be exchanged. */
export const findApproval = findOneBatched<
  Pick<Approval, 'grantId' | 'codeHash' | 'scope'>,
  { isUsable: boolean; isLive: boolean }
>('grant-find-approval')`
select input.n::int as n, ${CODE_IS_USABLE} as "isUsable", ${IS_LIVE} as "isLive"
  from @input(grant_id uuid, code_hash bytea, scope text)
  join lateral (select * from grants where grant_id = input.grant_id offset 0) g
    on (g.code_hash, g.scope) = (input.code_hash, input.scope)`;
