import type pg from 'pg';
import { recordOf } from '../../rules/common/recordOf.ts';
import { send, write } from '../database/query.ts';

/** Transitions of an authorization (contract section 3), sign-ins, operators' acts; true for those shown to the user. */
export const SHOWN_TO_USER_BY_EVENT_KIND = {
  ...recordOf(['approved', 'approved_again', 'rejected'], true),
  ...recordOf(['exchanged'], false),
  ...recordOf(['ends_soon', 'right_expired'], false),
  ...recordOf(
    ['expired', 'replayed', 'revoked_by_user', 'revoked_by_application', 'revoked_by_operator'],
    true,
  ),
  ...recordOf(['lowered_by_operator'], true),
  ...recordOf(['signed_in', 'signed_out', 'session_ended', 'other_sessions_ended'], true),
  ...recordOf(['password_changed', 'payment_password_changed'], true),
  ...recordOf(['password_guessed', 'payment_password_guessed'], true),
  ...recordOf(['imported'], true),
  ...recordOf(['client_created', 'client_imported', 'client_updated'], false),
  ...recordOf(['client_blocked', 'client_unblocked', 'client_deleted'], false),
  ...recordOf(['client_secret_added', 'client_secret_retired'], false),
  ...recordOf(['resource_created', 'resource_blocked', 'resource_unblocked', 'resource_deleted'], false),
  ...recordOf(['resource_secret_added', 'resource_secret_retired'], false),
  ...recordOf(['user_created', 'user_imported', 'user_updated', 'user_blocked', 'user_unblocked'], true),
  ...recordOf(['user_signed_out', 'user_password_set'], true),
  ...recordOf(['user_looked_at', 'user_deleted', 'trail_pruned', 'server_role_granted'], false),
  ...recordOf(['operator_created', 'operator_retired'], false),
};

export type AuditKind = keyof typeof SHOWN_TO_USER_BY_EVENT_KIND;
export const AUDIT_KINDS = Object.keys(SHOWN_TO_USER_BY_EVENT_KIND) as AuditKind[];

interface EventColumns extends Partial<typeof EVENT_GRANT & typeof CALLER_FROM_COLUMNS> {
  readonly kind: `'${AuditKind}'` | `case ${string}` | 'due' | '@kind';
  readonly limits?: string;
  readonly operator?: string;
  readonly detail?: string;
}

/** For an event about a grant, selected from rows with these columns. */
export const EVENT_GRANT = {
  grant_id: 'grant_id',
  user_id: 'user_id',
  client_id: 'client_id',
  instance_name: 'instance_name',
  scope: 'scope',
};

/** For an event caused by an HTTP request, selected from rows with these columns. */
export const CALLER_FROM_COLUMNS = { address: 'address', reference: 'reference' };

/** The same for a statement over one request: its parameters. */
export const CALLER_FROM_PARAMETERS = { address: '@address', reference: '@reference' };

/** The same for a batch: columns of its input. */
export const CALLER_INPUT_COLUMNS = 'address text, reference text';

/** The part of a statement that records an event for each row of `from`. */
export function insertEventsSql(columns: EventColumns, from: string): string {
  return `insert into audit_events (${Object.keys(columns).join(', ')})
  select ${Object.values(columns).join(', ')} from ${from}`;
}

/** An operator, and for a request to the API whence it came and why. */
export interface Actor {
  /** In the audit trail. */
  readonly name: string;
  readonly address?: string;
  readonly reference?: string;
  /** The operator's own words. */
  readonly note?: string | undefined;
}

/** Parameters of a statement that records an operator's event. */
export function actorParameters({ name, address, reference, note }: Actor, detail: object | null = null) {
  const withNote = note === undefined ? detail : { ...detail, note };
  return { operator: name, address: address ?? null, reference: reference ?? null, detail: withNote };
}

/** An operator's act: its object and the changed settings, without secrets and personal names. */
export interface OperatorAct {
  readonly kind: AuditKind;
  readonly operator: Actor;
  readonly userId?: string;
  readonly clientId?: string;
  readonly resourceId?: string;
  readonly detail?: object | null;
}

type ActParameters = Record<'kind' | 'userId' | 'clientId' | 'resourceId', string | null> &
  ReturnType<typeof actorParameters>;

const record = write<ActParameters>('audit-record-act')`
  insert into audit_events (kind, operator, address, reference, user_id, client_id, resource_id, detail)
  values (@kind, @operator, @address, @reference, @userId, @clientId, @resourceId, @detail)`;

export async function recordAct(
  connection: pg.PoolClient,
  { operator, detail, ...act }: OperatorAct,
): Promise<void> {
  const about = { userId: null, clientId: null, resourceId: null, ...act };
  await record(connection, { ...about, ...actorParameters(operator, detail) });
}

/** Records that an operator looks at a user, at most hourly. */
export const recordLook = write<{ userId: string } & ReturnType<typeof actorParameters>>('audit-record-look')`
  insert into audit_events (kind, operator, address, reference, user_id, detail)
  select 'user_looked_at', @operator, @address, @reference, @userId, @detail
   where not exists (select from audit_events where user_id = @userId::uuid and kind = 'user_looked_at' and operator = @operator
                        and at > clock_timestamp() - interval '1 hour')`;

/** Sets this transaction's operator for the events that a trigger records when grants are deleted. */
export async function setAuditOperator(connection: pg.PoolClient, { name }: Actor): Promise<void> {
  await send(connection, { text: `select set_config('assent.operator', $1, true)`, values: [name] });
}
