// What operators do with the audit trail. Every other verb writes its events within its own transaction.
export {
  AUDIT_KINDS,
  type AuditEvent,
  type AuditFilter,
  type AuditKind,
  findAuditEvents,
} from '../store/auditEvents.ts';
export { pruneAuditPartitions } from '../store/auditPartitions.ts';
