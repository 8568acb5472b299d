import type pg from 'pg';
import type { RequestMeta } from '../../rules/common/caller.ts';
import { write } from '../database/query.ts';
import type { Computed } from '../database/statement.ts';

/** Transitions of an authorization (contract section 3), sign-ins, operators' acts; true for those shown to the user. */
export const IS_TOLD = {
  approved: true,
  approved_again: true,
  rejected: true,
  exchanged: false,
  replayed: true,
  revoked_by_user: true,
  revoked_by_application: true,
  revoked_by_operator: true,
  signed_in: true,
  signed_out: true,
  session_ended: true,
  other_sessions_ended: true,
  password_changed: true,
  payment_password_changed: true,
  password_guessed: true,
  payment_password_guessed: true,
  imported: true,
  client_created: false,
  client_imported: false,
  client_updated: false,
  client_blocked: false,
  client_unblocked: false,
  client_deleted: false,
  client_secret_added: false,
  client_secret_retired: false,
  resource_created: false,
  resource_blocked: false,
  resource_unblocked: false,
  resource_deleted: false,
  resource_secret_added: false,
  resource_secret_retired: false,
  user_created: true,
  user_imported: true,
  user_updated: true,
  user_blocked: true,
  user_unblocked: true,
  user_signed_out: true,
  user_password_set: true,
  user_deleted: false,
  trail_pruned: false,
  server_role_granted: false,
  operator_created: false,
  operator_retired: false,
} as const;

export type AuditKind = keyof typeof IS_TOLD;
export const AUDIT_KINDS = Object.keys(IS_TOLD) as AuditKind[];

interface EventColumns extends Partial<typeof OF_GRANT & typeof OF_REQUEST> {
  readonly kind: `'${AuditKind}'` | `case ${string}` | '@kind';
  readonly limits?: string;
  readonly operator?: string;
  readonly detail?: string;
}

/** For an event about a grant, selected from rows with these columns. */
export const OF_GRANT = {
  grant_id: 'grant_id',
  user_id: 'user_id',
  client_id: 'client_id',
  instance_name: 'instance_name',
  scope: 'scope',
};

/** For an event caused by an HTTP request, selected from rows with these columns. */
export const OF_REQUEST = { address: 'address', reference: 'reference' };

/** The same for a statement over one request: its parameters. */
export const OF_CALLER = { address: '@address', reference: '@reference' };

/** The same for a batch: columns of its input, and their values. */
export const CALLER_COLUMNS = 'address text, reference text';
export const CALLER_VALUES: Computed<{ readonly caller: RequestMeta }> = {
  address: ({ caller }) => caller.address,
  reference: ({ caller }) => caller.reference,
};

/** The part of a statement that records an event for each row of `from`. */
export function recordEvents(columns: EventColumns, from: string): string {
  return `insert into audit_events (${Object.keys(columns).join(', ')})
  select ${Object.values(columns).join(', ')} from ${from}`;
}

/** An operator's act: its object and the changed settings, without secrets and personal names. */
export interface Act {
  readonly kind: AuditKind;
  readonly operator: string;
  readonly userId?: string;
  readonly clientId?: string;
  readonly resourceId?: string;
  readonly detail?: object;
}

const note = write<Record<keyof Act, string | object | null>>('audit-note-act')`
  insert into audit_events (kind, operator, user_id, client_id, resource_id, detail)
  values (@kind, @operator, @userId, @clientId, @resourceId, @detail)`;

export async function recordAct(connection: pg.PoolClient, act: Act): Promise<void> {
  await note(connection, { userId: null, clientId: null, resourceId: null, detail: null, ...act });
}

/** Sets this transaction's operator for the events that a trigger records when grants are deleted. */
export async function nameOperator(connection: pg.PoolClient, operator: string): Promise<void> {
  await connection.query(`select set_config('assent.operator', $1, true)`, [operator]);
}
