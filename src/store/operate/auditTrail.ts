import type pg from 'pg';
import type { AuditKind } from '../common/auditEvents.ts';
import { whereOf } from '../common/conditions.ts';
import { queryPages } from '../database/query.ts';
import { statement } from '../database/statement.ts';

/** One event, written in the transaction of the recorded change. */
export interface AuditEvent {
  /** The same on every read: 32 hex digits. */
  readonly id: string;
  readonly at: Date;
  readonly kind: AuditKind;
  /** Null without an operator. */
  readonly operator: string | null;
  readonly userId: string | null;
  /** Null also for a deleted user. */
  readonly login: string | null;
  /** The user's id in another system; null for none. */
  readonly externalId: string | null;
  readonly clientId: string | null;
  /** Its current name; null also for a deleted application. */
  readonly clientName: string | null;
  readonly resourceId: string | null;
  readonly instanceName: string | null;
  readonly grantId: string | null;
  readonly scope: string | null;
  /** As on the decision's page; null without a decision. */
  readonly limits: unknown;
  readonly address: string | null;
  readonly reference: string | null;
  readonly detail: unknown;
}

/** Selects events; null fields are ignored. */
interface AuditFilter
  extends Pick<AuditEvent, 'userId' | 'clientId' | 'grantId' | 'resourceId' | 'reference'> {
  readonly kind: AuditKind | null;
  readonly since: Date | null;
  readonly until: Date | null;
}

const CONDITIONS = {
  userId: 'a.user_id = @userId',
  clientId: 'a.client_id = @clientId',
  grantId: 'a.grant_id = @grantId',
  resourceId: 'a.resource_id = @resourceId',
  reference: 'a.reference = @reference',
  kind: 'a.kind = @kind',
  since: 'a.at >= @since',
  until: 'a.at < @until',
};

/** The SQL for reading events. @param from a query with the columns of `audit_events` @param more a further column, as text */
export const selectEvents = (from: string, more?: string): string => `
select md5(concat_ws(' ', extract(epoch from a.at), a.kind, a.user_id, a.client_id, a.resource_id, a.grant_id, a.reference))
         as id,
       a.at, a.kind, a.operator, a.user_id as "userId", u.login, u.external_id as "externalId",
       a.client_id as "clientId", c.name as "clientName",
       a.resource_id as "resourceId", a.instance_name as "instanceName", a.grant_id as "grantId", a.scope, a.limits,
       a.address, a.reference, a.detail${more === undefined ? '' : `, a.${more}::text`}
  from (${from}) a left join users u using (user_id) left join clients c using (client_id)`;

/** The matching events, oldest first, in pages. @param limit how many of the newest; null for all */
export function findAuditEvents(pool: pg.Pool, filter: AuditFilter, limit: number | null) {
  const newest = limit === null ? '' : 'order by a.at desc limit @limit';
  const events = `select * from audit_events a where ${whereOf(CONDITIONS, filter)} ${newest}`;
  const find = statement<AuditFilter & { limit: number | null }>('', `${selectEvents(events)} order by a.at`);
  return queryPages<AuditEvent>(pool, find({ ...filter, limit }));
}
