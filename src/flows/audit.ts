// What operators do with the audit trail. Every other verb writes its events within its own transaction.
export { AUDIT_KINDS, type AuditKind } from '../store/auditEvents.ts';
export { pruneAuditPartitions } from '../store/auditPartitions.ts';
export { type AuditEvent, type AuditFilter, findAuditEvents } from '../store/auditTrail.ts';
