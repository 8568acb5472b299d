import type { Digest } from '../secrets/digest.ts';
import type { AuditKind } from './auditEvents.ts';
import type { Database } from './database/database.ts';
import { query, queryOne } from './database/query.ts';
import { statement } from './database/statement.ts';
import { sessionIdOf } from './sessions.ts';

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

const select = (events: string) => `
select a.kind, a.at, (extract(epoch from a.at) * 1000000)::bigint::text as micros, a.client_id as "clientId",
       c.name as "clientName", a.instance_name as "instanceName", a.address
  from (${events}) a
  left join clients c using (client_id)
 order by a.at desc`;

// By `audit_events_history_idx`, backwards in each partition: a page costs its rows, and one look at each earlier month. Until
// PostgreSQL has analysed a month that was just filled, it may read all that the user has there instead.
// `ctid` makes the order of events of the very same time the same on each page: rows of the trail never move.
const find = statement<HistoryPlace & { userId: string; most: number }>(
  'history-find',
  select(`
select * from audit_events
 where user_id = @userId and kind <> 'exchanged' and kind in ('${HISTORY_KINDS.join(`', '`)}')
   and at <= coalesce(timestamptz 'epoch' + @micros::bigint * interval '1 microsecond', 'infinity')
 order by at desc, ctid offset @skip limit @most`),
);

/** The events of a user from a place on, newest first, at most so many. */
export const findHistory = (
  db: Database,
  userId: string,
  place: HistoryPlace,
  most: number,
): Promise<HistoryRow[]> => query(db, find({ userId, ...place, most }));

/** Events that are looked through for the last confirmation. */
const MAX_READ = 200;

const findConfirmation = statement<{ userId: string; sessionHash: Digest }>(
  'history-find-payment-confirmation',
  select(`
select * from (select * from audit_events where user_id = @userId and kind <> 'exchanged' order by at desc limit ${MAX_READ}) newest
 where kind = 'payment_confirmed' and detail ->> 'session' is distinct from ${sessionIdOf('@sessionHash::bytea')}
 order by at desc limit 1`),
);

/** The last use of the user's payment password in another session; null when there is none among the newest events. */
export const findPaymentConfirmation = (
  db: Database,
  userId: string,
  sessionHash: Digest,
): Promise<HistoryRow | null> => queryOne(db, findConfirmation({ userId, sessionHash }));
