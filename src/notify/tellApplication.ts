import type pg from 'pg';
import type { AuditEvent } from '../store/operate/auditTrail.ts';
import { findGrantsToTell } from '../store/operate/notifyCursors.ts';
import type { Webhook } from './deliver.ts';

/** The `reason` of `authorization.ended`, by the event that ended it. */
const REASONS: Readonly<Partial<Record<AuditEvent['outcome'], string>>> = {
  approved_again: 'replaced',
  expired: 'expired',
  replayed: 'code_used_twice',
  revoked_by_user: 'user',
  revoked_by_application: 'application',
  revoked_by_operator: 'operator',
  client_blocked: 'client_blocked',
  user_blocked: 'user_blocked',
};

interface Ended {
  readonly clientId: string;
  readonly webhook: Webhook;
}

/** What applications are told of an event: never who the user is. A blocked application's message has no grant: all have ended. */
export async function tellApplications(pool: pg.Pool, event: AuditEvent): Promise<Ended[]> {
  const { id, at, outcome, userId, clientId, grantId, instanceName, login } = event;
  // A user's deletion revokes first.
  const reason = outcome === 'revoked_by_operator' && login === null ? 'deleted' : REASONS[outcome];
  const type = 'authorization.ended';
  const ended = (of: string, grant_id: string | null, instance_name: string | null, suffix = '') => ({
    clientId: of,
    webhook: {
      id: id + suffix,
      body: { type, timestamp: at, data: { grant_id, client_id: of, instance_name, reason } },
    },
  });
  if (reason === undefined) return [];
  if (outcome !== 'user_blocked') return clientId === null ? [] : [ended(clientId, grantId, instanceName)];
  const grants = userId === null ? [] : await findGrantsToTell(pool, { userId });
  return grants.map((grant) => ended(grant.clientId, grant.grantId, grant.instanceName, `-${grant.grantId}`));
}
