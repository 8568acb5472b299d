import type { Caller } from '../../rules/common/caller.ts';
import {
  type actorParameters,
  CALLER_FROM_PARAMETERS,
  EVENT_GRANT,
  insertEventsSql,
} from '../common/auditEvents.ts';
import { IS_LIVE } from '../common/grants.ts';
import { decidingStatement, momentOf } from '../database/deadline.ts';

type Lowering = Pick<Caller, 'decideBy'> &
  Record<'grantId' | 'earlier' | 'scope', string> &
  ReturnType<typeof actorParameters>;

/** The operator lowers a grant. @returns `lowered`: false if it has ended, or its scope is not `earlier` */
export const lowerGrant = decidingStatement<Lowering, { lowered: boolean }>('grant-lower-by-operator')`
with locked as (
  select g.grant_id from grants g where g.grant_id = @grantId and g.scope = @earlier and ${IS_LIVE} for no key update
), ${momentOf('locked')}, lowered as (
  update grants g set scope = @scope, lowered = true, revision = g.revision + 1
    from locked, moment where g.grant_id = locked.grant_id and not late
  returning g.grant_id, g.user_id, g.client_id, g.instance_name, g.scope
), recorded as (
  ${insertEventsSql(
    {
      kind: `'lowered_by_operator'`,
      ...EVENT_GRANT,
      operator: '@operator',
      detail: '@detail::jsonb',
      ...CALLER_FROM_PARAMETERS,
    },
    'lowered',
  )}
)
select exists (select from lowered) as lowered, late from moment`;
