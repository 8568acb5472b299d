import type pg from 'pg';
import type { Caller } from '../rules/caller.ts';
import { execute } from './database/query.ts';
import { type Columns, statement } from './database/statement.ts';

/** What an event may be: a transition of an authorization (contract section 3), a sign-in, or an act of an operator. */
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
  'signed_out',
  'session_ended',
  'other_sessions_ended',
  'payment_confirmed',
  'password_changed',
  'payment_password_changed',
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

/** A password was tried so often that the next attempt has to wait. */
export type GuessingKind = Extract<AuditKind, `${string}_guessed`>;

/** The SQL of each column that an event has. */
interface EventColumns extends Partial<typeof OF_GRANT & typeof OF_REQUEST> {
  readonly kind: `'${AuditKind}'` | `case ${string}` | '@kind';
  readonly limits?: string;
  readonly operator?: string;
  readonly detail?: string;
}

/** Of an event about a grant, selected from rows with these columns. */
export const OF_GRANT = {
  grant_id: 'grant_id',
  user_id: 'user_id',
  client_id: 'client_id',
  instance_name: 'instance_name',
  scope: 'scope',
};

/** Of an event that an HTTP request caused, selected from rows with these columns. */
export const OF_REQUEST = { address: 'address', reference: 'reference' };

/** The same for a statement over one request: its parameters. */
export const OF_CALLER = { address: '@address', reference: '@reference' };

/** The columns of a batch that {@link OF_REQUEST} selects. */
export const CALLER_COLUMNS = {
  address: ['text', ({ caller }) => caller.address],
  reference: ['text', ({ caller }) => caller.reference],
} satisfies Columns<{ readonly caller: Caller }>;

/** The part of a statement that records an event for each row of `from`. */
export function recordEvents(columns: EventColumns, from: string): string {
  return `insert into audit_events (${Object.keys(columns).join(', ')})
  select ${Object.values(columns).join(', ')} from ${from}`;
}

/** What an operator did, to what, and which settings changed: no secret, and no name of a person. */
export interface Act {
  readonly kind: AuditKind;
  readonly operator: string;
  readonly userId?: string;
  readonly clientId?: string;
  readonly resourceId?: string;
  readonly detail?: object;
}

const note = statement<Record<keyof Act, string | object | null>>(
  'audit-note-act',
  `insert into audit_events (kind, operator, user_id, client_id, resource_id, detail)
   values (@kind, @operator, @userId, @clientId, @resourceId, @detail)`,
);

/** Records an operator's act, within the transaction of the act itself. */
export async function recordAct(connection: pg.PoolClient, act: Act): Promise<void> {
  const NOTHING = { userId: null, clientId: null, resourceId: null, detail: null };
  await execute(connection, note({ ...NOTHING, ...act }));
}

/** Names the operator of this transaction for the events that a trigger records when grants are deleted. */
export async function nameOperator(connection: pg.PoolClient, operator: string): Promise<void> {
  await connection.query(`select set_config('assent.operator', $1, true)`, [operator]);
}
