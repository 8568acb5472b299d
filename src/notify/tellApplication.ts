import type pg from 'pg';
import { formatScope, grantedRights } from '../rules/scope/scope.ts';
import type { AuditEvent } from '../store/operate/auditTrail.ts';
import { findGrantsToTell, type GrantToTell } from '../store/operate/notifyCursors.ts';
import type { Webhook } from './deliver.ts';

/** The `reason` by the event: of `authorization.ended`, or of `authorization.lowered`. */
const REASONS: Readonly<Partial<Record<AuditEvent['outcome'], string>>> = {
  approved_again: 'replaced',
  expired: 'expired',
  right_expired: 'expired',
  replayed: 'code_used_twice',
  revoked_by_user: 'user',
  revoked_by_application: 'application',
  revoked_by_operator: 'operator',
  lowered_by_operator: 'operator',
  client_blocked: 'client_blocked',
  user_blocked: 'user_blocked',
};

interface Told {
  readonly clientId: string;
  readonly webhook: Webhook;
}

/** What applications are told of an event: never who the user is. A blocked application's message has no grant: all have ended. */
export async function tellApplications(pool: pg.Pool, event: AuditEvent, currency: string): Promise<Told[]> {
  const { id, at, outcome, userId, clientId, detail } = event;
  const reason = detail?.deleted ? 'deleted' : REASONS[outcome];
  const endedBefore = outcome === 'approved_again' && !detail?.replaces;
  if (reason === undefined || endedBefore) return [];
  const isLowered = outcome === 'right_expired' || outcome === 'lowered_by_operator';
  const type = isLowered ? 'authorization.lowered' : 'authorization.ended';
  const left = isLowered ? { scope: scopeLeft(event, currency) } : {};
  const tell = (to: GrantToTell, webhookId: string): Told => {
    const { clientId: client_id, grantId: grant_id, instanceName: instance_name } = to;
    const data = { grant_id, client_id, instance_name, reason, ...left };
    return { clientId: client_id, webhook: { id: webhookId, body: { type, timestamp: at, data } } };
  };
  if (outcome !== 'user_blocked') return clientId === null ? [] : [tell({ ...event, clientId }, id)];
  const grants = await findGrantsToTell(pool, { userId, at });
  return grants.map((grant) => tell(grant, `${id}-${grant.grantId}`));
}

/** The rights that an authorization has afterwards. */
function scopeLeft({ at, clientId, scope, detail }: AuditEvent, currency: string): string {
  const grant = { clientId: clientId ?? '', scope: scope ?? '' };
  return formatScope(grantedRights(grant, currency, new Date(String(detail?.ends_at ?? at))));
}
