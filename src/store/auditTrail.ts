import type pg from 'pg';
import type { AuditKind } from './auditEvents.ts';
import { whereOf } from './conditions.ts';
import { queryLong } from './database/query.ts';
import { statement } from './database/statement.ts';

/** One event, written in the transaction of what it records. */
export interface AuditEvent {
  readonly at: Date;
  readonly kind: AuditKind;
  /** Null for what no operator did. */
  readonly operator: string | null;
  readonly userId: string | null;
  /** Null also for a user who was deleted. */
  readonly login: string | null;
  readonly clientId: string | null;
  readonly resourceId: string | null;
  readonly instanceName: string | null;
  readonly grantId: string | null;
  readonly scope: string | null;
  /** As a decision's page showed them; null where nothing was decided. */
  readonly limits: unknown;
  readonly address: string | null;
  readonly reference: string | null;
  /** What an operator changed. */
  readonly detail: unknown;
}

/** Which events; null fields are ignored. */
export interface AuditFilter extends Pick<AuditEvent, 'userId' | 'clientId' | 'resourceId' | 'reference'> {
  readonly kind: AuditKind | null;
  readonly since: Date | null;
  /** Before this. */
  readonly until: Date | null;
}

const CONDITIONS = {
  userId: 'a.user_id = @userId',
  clientId: 'a.client_id = @clientId',
  resourceId: 'a.resource_id = @resourceId',
  reference: 'a.reference = @reference',
  kind: 'a.kind = @kind',
  since: 'a.at >= @since',
  until: 'a.at < @until',
};

/** The events that fit, oldest first. @param limit how many of the newest; all when null */
export function findAuditEvents(
  pool: pg.Pool,
  filter: AuditFilter,
  limit: number | null,
): Promise<AuditEvent[]> {
  const find = statement<AuditFilter & { limit: number | null }>(
    '',
    `
select * from (
  select a.at, a.kind, a.operator, a.user_id as "userId", u.login, a.client_id as "clientId",
         a.resource_id as "resourceId", a.instance_name as "instanceName", a.grant_id as "grantId", a.scope, a.limits,
         a.address, a.reference, a.detail
    from audit_events a left join users u using (user_id)
   where ${whereOf(CONDITIONS, filter)} order by a.at desc limit @limit
) newest order by at`,
  );
  return queryLong(pool, find({ ...filter, limit }));
}
