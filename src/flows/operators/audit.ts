import type pg from 'pg';
import { type Act, recordAct } from '../../store/auditEvents.ts';
import { transaction } from '../../store/database/database.ts';

// Users' verbs write their events within their own statement.
export { AUDIT_KINDS, type AuditKind } from '../../store/auditEvents.ts';
export { findTrailPart, type TrailPlace } from '../../store/auditPlaces.ts';
export { type AuditEvent, type AuditFilter, findAuditEvents } from '../../store/auditTrail.ts';
export { findPrunable, pruneAuditPartitions } from '../../store/schema/auditPruning.ts';

/** Changes something for an operator. The act is recorded in the same transaction, if the change was one. */
export function audited<Result extends boolean | null>(
  pool: pg.Pool,
  act: Act,
  change: (connection: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  return transaction(pool, async (connection) => {
    const changed = await change(connection);
    if (changed) await recordAct(connection, act);
    return changed;
  });
}
