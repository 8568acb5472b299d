import { emit } from '../../signals/events.ts';
import { CALLER_FROM_PARAMETERS, insertEventsSql } from '../common/auditEvents.ts';
import {
  COUNT_DECISION,
  type Decision,
  type DecisionVerdict,
  IS_BELOW_DECISION_LIMIT,
} from '../common/decisions.ts';
import { SESSION_IS_VALID } from '../common/sessions.ts';
import type { Database } from '../database/database.ts';
import { decidingStatement, momentOf } from '../database/deadline.ts';

interface Rejection extends Decision {
  /** When neither the page nor a decision signed on it is valid any more. */
  readonly keptUntil: Date;
}

// A page is kept until no Allow of it can come. Each rejection deletes two expired pages, so that the table stays small.
const reject = decidingStatement<Rejection, { verdict: RejectionVerdict; noted: boolean }>('grant-reject')`
with earlier as materialized (
  select answer_to(@page, @grantId, @codeHash) as answer
), session as materialized (
  select ${IS_BELOW_DECISION_LIMIT} as may_decide from sessions s join users u using (user_id)
   where s.session_hash = @sessionHash and s.user_id = @userId and ${SESSION_IS_VALID}
), counted as (
  update users u set ${COUNT_DECISION}
   where u.user_id = @userId and ${IS_BELOW_DECISION_LIMIT} and exists (select from earlier where answer is null)
     and exists (select from session where may_decide)
  returning u.user_id
), locked_sessions as (
  select s.session_hash from sessions s
   where s.session_hash = @sessionHash and s.user_id = (select user_id from counted) and ${SESSION_IS_VALID}
     for no key update
), ${momentOf('counted', 'locked_sessions')}, answered as materialized (  -- by the decisions that this one waited for, too
  select answer_to(@page, @grantId, @codeHash) as answer from locked_sessions, moment where not late
), noted as (
  insert into rejections (page_hash, expires_at) select @page, @keptUntil from answered where answer is null
  on conflict do nothing returning page_hash
), logged as (
  ${insertEventsSql(
    {
      kind: `'rejected'`,
      grant_id: '@grantId::uuid',
      user_id: '@userId',
      client_id: '@clientId',
      instance_name: '@instanceName',
      scope: '@scope',
      limits: '@limits',
      ...CALLER_FROM_PARAMETERS,
    },
    'noted',
  )}
), swept as (
  delete from rejections where exists (select from noted) and page_hash = any (array(
    select page_hash from rejections where expires_at < clock_timestamp() order by expires_at limit 2 for update skip locked))
)
select case when exists (select from noted) then 'rejected'
            when coalesce(answered.answer, earlier.answer) is not null then coalesce(answered.answer, earlier.answer)
            when not exists (select from session) then 'ended'
            when exists (select from session where not may_decide) then 'too_many'
            else 'stale' end as verdict,
       exists (select from noted) as noted, late and earlier.answer is null as late
  from earlier cross join moment left join answered on true`;

type RejectionVerdict =
  /** Recorded, now or before. */
  | 'rejected'
  /** Allow was already pressed on this form: rejecting comes too late. */
  | 'allowed'
  | DecisionVerdict
  /** While this statement waited for a lock, the session ended, or another decision used up the user's limit. */
  | 'stale';

/** Records a rejection, once. It changes no grant. @throws {OverloadedError} */
export async function rejectGrant(db: Database, rejection: Rejection): Promise<RejectionVerdict> {
  const { verdict, noted } = await reject(db, rejection);
  if (noted) emit('decision', 'rejected');
  return verdict;
}
