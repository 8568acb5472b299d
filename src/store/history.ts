import type { AuditKind } from './auditEvents.ts';
import type { Database } from './database/database.ts';
import { query } from './database/query.ts';
import { statement } from './database/statement.ts';

/** What a user is told of the trail: own acts, and what happened to the account and to what was allowed. */
export const HISTORY_KINDS = [
  'approved',
  'approved_again',
  'refused',
  'replayed',
  'revoked_by_user',
  'revoked_by_application',
  'revoked_by_operator',
  'signed_in',
  'payment_confirmed',
  'password_changed',
  'payment_password_changed',
  'password_guessed',
  'payment_password_guessed',
  'user_created',
  'user_blocked',
  'user_unblocked',
  'user_signed_out',
  'user_password_set',
] as const satisfies readonly AuditKind[];

export type HistoryKind = (typeof HISTORY_KINDS)[number];

/** An event as it is read for its user. */
export interface HistoryRow {
  readonly kind: HistoryKind;
  readonly at: Date;
  /** The same in microseconds since 1970: events of one statement are less than a millisecond apart. */
  readonly micros: string;
  readonly clientId: string | null;
  /** Null also when the application was deleted. */
  readonly clientName: string | null;
  readonly instanceName: string | null;
  readonly address: string | null;
}

/** Where a page begins: at this time or earlier, after `skip` events of exactly this time; at the newest when it is null. */
export interface HistoryPlace {
  readonly micros: string | null;
  readonly skip: number;
}

// By `audit_events_history_idx`, backwards in each partition: a page costs its rows, and one look at each earlier month.
// `ctid` makes the order of events of the very same time the same on each page: rows of the trail never move.
const find = statement<HistoryPlace & { userId: string; most: number }>(
  'history-find',
  `
select a.kind, a.at, (extract(epoch from a.at) * 1000000)::bigint::text as micros, a.client_id as "clientId",
       c.name as "clientName", a.instance_name as "instanceName", a.address
  from (select * from audit_events
         where user_id = @userId and kind <> 'exchanged' and kind in ('${HISTORY_KINDS.join(`', '`)}')
           and at <= coalesce(timestamptz 'epoch' + @micros::bigint * interval '1 microsecond', 'infinity')
         order by at desc, ctid offset @skip limit @most) a
  left join clients c using (client_id)
 order by a.at desc`,
);

/** The events of a user from a place on, newest first, at most so many. */
export const findHistory = (
  db: Database,
  userId: string,
  place: HistoryPlace,
  most: number,
): Promise<HistoryRow[]> => query(db, find({ userId, ...place, most }));
