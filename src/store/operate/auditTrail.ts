import type pg from 'pg';
import type { AuditKind } from '../common/auditEvents.ts';
import { AFTER_TIME, microsOf, whereOf } from '../common/conditions.ts';
import { queryPages } from '../database/query.ts';
import { statement } from '../database/statement.ts';

type Whom = 'operator' | 'userId' | 'login' | 'externalId' | 'clientId' | 'clientName';
type What = 'resourceId' | 'instanceName' | 'grantId' | 'scope' | 'address' | 'reference';

/**
 * One event, written in the transaction of the recorded change. `id`: 32 hex digits, the same on every read; `login` and
 * `clientName`: the current ones, null if deleted; `limits`: as on the decision's page.
 */
export interface AuditEvent extends Readonly<Record<Whom | What, string | null>> {
  readonly id: string;
  readonly at: Date;
  readonly outcome: AuditKind;
  readonly limits: unknown;
  readonly detail: unknown;
}

/** An event's place. `ctid` orders events of the same time, since audit rows never move. */
const PLACE = `${microsOf('a.at')} || '.' || btrim(a.ctid::text, '()')`;

const CONDITIONS = {
  userId: 'a.user_id = @userId',
  clientId: 'a.client_id = @clientId',
  grantId: 'a.grant_id = @grantId',
  resourceId: 'a.resource_id = @resourceId',
  reference: 'a.reference = @reference',
  outcome: 'a.kind = @outcome',
  since: 'a.at >= @since',
  until: 'a.at < @until',
  after: `a.at >= ${AFTER_TIME} and (a.at > ${AFTER_TIME} or a.ctid > ('(' || split_part(@after, '.', 2) || ')')::tid)`,
};

/** Selects events; null fields are ignored. */
type AuditFilter = Readonly<Partial<Record<keyof typeof CONDITIONS, string | Date | null>>>;

/** The SQL for reading events. @param from a query with the columns of `audit_events` @param more a further column, as text */
export const selectEvents = (from: string, more: string): string => `
select md5(concat_ws(' ', extract(epoch from a.at), a.kind, a.user_id, a.client_id, a.resource_id, a.grant_id, a.reference))
         as id,
       a.at, a.kind as outcome, a.operator, a.user_id as "userId", u.login, u.external_id as "externalId",
       a.client_id as "clientId", c.name as "clientName",
       a.resource_id as "resourceId", a.instance_name as "instanceName", a.grant_id as "grantId", a.scope, a.limits,
       a.address, a.reference, a.detail, a.${more}::text
  from (${from}) a left join users u using (user_id) left join clients c using (client_id)`;

/** The matching events, oldest first, in pages. @param limit how many: with `after` the first, else the newest; null for all */
export function findAuditEvents(pool: pg.Pool, filter: AuditFilter, limit: number | null) {
  const order = filter.after == null ? 'a.at desc, a.ctid desc' : 'a.at, a.ctid';
  const some = limit === null ? '' : `order by ${order} limit ${limit}`;
  const events = `select *, ctid as place, ${PLACE} as after from audit_events a where ${whereOf(CONDITIONS, filter)} ${some}`;
  const find = statement<AuditFilter>('', `${selectEvents(events, 'after')} order by a.at, a.place`);
  return queryPages<AuditEvent & { after: string }>(pool, find(filter));
}
