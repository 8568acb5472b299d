import type pg from 'pg';
import { execute, queryLong, transaction } from './database.ts';
import { whereOf } from './where.ts';

/** Who asked by HTTP for what the trail is told of, and how long they wait for it. */
export interface Caller {
  /** The address of the browser or the application's server, as text. */
  readonly address: string;
  /** The reference of the request's log line. */
  readonly reference: string;
  /** Until when of `performance.now()` it may be decided: what comes later does nothing. */
  readonly decideBy: number;
}

/**
 * What happened: one transition of an authorization (contract section 3), a sign-in, or one act of an operator, written in
 * the same transaction as the transition or the act itself.
 */
export interface AuditEvent {
  readonly at: Date;
  readonly kind: AuditKind;
  /** Who gave the command; null for what no operator did. */
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
  /** What changed, of an operator's act. */
  readonly detail: unknown;
}

/** Everything that the trail may say. */
export const AUDIT_KINDS = [
  'approved',
  'approved_again',
  'refused',
  'exchanged',
  'replayed',
  'revoked_by_user',
  'revoked_by_application',
  'revoked_by_operator',
  'signed_in',
  'payment_confirmed',
  'password_guessed',
  'payment_password_guessed',
  'client_created',
  'client_updated',
  'client_blocked',
  'client_unblocked',
  'client_deleted',
  'client_secret_added',
  'client_secret_retired',
  'resource_created',
  'resource_blocked',
  'resource_unblocked',
  'resource_deleted',
  'resource_secret_added',
  'resource_secret_retired',
  'user_created',
  'user_blocked',
  'user_unblocked',
  'user_signed_out',
  'user_password_set',
  'user_deleted',
  'trail_pruned',
  'server_role_granted',
] as const;

export type AuditKind = (typeof AUDIT_KINDS)[number];

/** A password was tried so often that the next try has to wait. */
export type GuessingKind = Extract<AuditKind, `${string}_guessed`>;

/** What an operator did, to what, and which settings changed: no secret, and no name of a person. */
export interface Act {
  readonly kind: AuditKind;
  readonly operator: string;
  readonly userId?: string;
  readonly clientId?: string;
  readonly resourceId?: string;
  readonly detail?: object;
}

const note = {
  name: 'audit-note-act',
  text: `insert into audit_events (kind, operator, user_id, client_id, resource_id, detail)
         values ($1, $2, $3, $4, $5, $6)`,
};

/** Writes an operator's act down, within the transaction of the act itself. */
export async function noteAct(connection: pg.PoolClient, act: Act): Promise<void> {
  const { kind, operator, userId = null, clientId = null, resourceId = null, detail = null } = act;
  await execute(connection, note, [kind, operator, userId, clientId, resourceId, detail]);
}

const setOperator = { name: '', text: `select set_config('assent.operator', $1, true)` };

/** Says who it is that deletes grants in this transaction, for the rows that the table itself writes. */
export async function nameOperator(connection: pg.PoolClient, operator: string): Promise<void> {
  await execute(connection, setOperator, [operator]);
}

/** Which events; what is null doesn't narrow them. */
export interface AuditFilter {
  readonly userId: string | null;
  readonly clientId: string | null;
  readonly resourceId: string | null;
  readonly reference: string | null;
  readonly kind: AuditKind | null;
  readonly since: Date | null;
  /** Before this. */
  readonly until: Date | null;
}

/** The events that fit, oldest first; of more than `limit` the newest, all of them when that is null. */
export function findAuditEvents(
  pool: pg.Pool,
  filter: AuditFilter,
  limit: number | null,
): Promise<AuditEvent[]> {
  const { condition, values } = whereOf([
    ['a.user_id =', filter.userId],
    ['a.client_id =', filter.clientId],
    ['a.resource_id =', filter.resourceId],
    ['a.reference =', filter.reference],
    ['a.kind =', filter.kind],
    ['a.at >=', filter.since],
    ['a.at <', filter.until],
  ]);
  const statement = {
    name: '',
    text: `
select * from (
  select a.at, a.kind, a.operator, a.user_id as "userId", u.login, a.client_id as "clientId",
         a.resource_id as "resourceId", a.instance_name as "instanceName", a.grant_id as "grantId", a.scope, a.limits,
         a.address, a.reference, a.detail
    from audit_events a left join users u using (user_id)
   where ${condition} order by a.at desc limit $${values.length + 1}
) newest order by at`,
  };
  return transaction(pool, (connection) => queryLong<AuditEvent>(connection, statement, [...values, limit]));
}
