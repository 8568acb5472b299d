import { AUDIT_KINDS, type AuditKind, IS_TOLD, KIND, storedKinds } from '../common/auditEvents.ts';
import { findAll } from '../database/query.ts';

/** Shown to the user: own acts, and what happened to the account and its authorizations. */
export type HistoryKind = {
  [Kind in AuditKind]: (typeof IS_TOLD)[Kind] extends true ? Kind : never;
}[AuditKind];
export const HISTORY_KINDS = AUDIT_KINDS.filter((kind): kind is HistoryKind => IS_TOLD[kind]);

/** Possible acts of a thief of passwords or codes: the user is warned of them on every page. */
export const WARNING_KINDS = [
  'payment_confirmed',
  'replayed',
  'password_guessed',
  'payment_password_guessed',
  'user_password_set',
  'signed_in',
] as const satisfies readonly HistoryKind[];

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
  readonly scope: string | null;
  readonly address: string | null;
}

/** Begins at this time or earlier, after at most `skip` events of exactly this time; at the newest when it is null. */
export interface HistoryCursor {
  readonly micros: string | null;
  readonly skip: number;
}

const select = (events: string, others = '') => `
select ${KIND} as kind, a.at, (extract(epoch from a.at) * 1000000)::bigint::text as micros, a.client_id as "clientId",
       c.name as "clientName", a.instance_name as "instanceName", a.scope, a.address${others}
  from (${events}) a
  left join clients c using (client_id)
 order by a.at desc`;

const OF_HISTORY = `user_id = @userId and kind <> 'exchanged' and kind in (${storedKinds(HISTORY_KINDS)})`;
const CURSOR_TIME = `timestamptz 'epoch' + @micros::bigint * interval '1 microsecond'`;

// By `audit_events_history_idx`, backwards in each partition: a page costs its rows, and one look at each earlier month. Until
// PostgreSQL has analysed a month that was just filled, it may read all that the user has there instead.
// `ctid` makes the order of events of the very same time the same on each page: rows of the trail never move. No more events
// are passed over than there are at that time: a link may say any number.
/** The events of a user from a cursor on, newest first, at most so many. */
export const findHistory = findAll<HistoryCursor & { userId: string; most: number }, HistoryRow>(
  'history-find',
  select(`
select * from audit_events where ${OF_HISTORY} and at <= coalesce(${CURSOR_TIME}, 'infinity') order by at desc, ctid
offset (select count(*) from (select from audit_events where ${OF_HISTORY} and at = ${CURSOR_TIME} limit @skip) passed) limit @most`),
);

export const WARNING_DAYS = 30;
/** Events of each kind that are looked through for warnings. */
const MAX_READ = 200;

/** Kinds with a sentence for each network: they took a password, and the owner's must not hide a thief's. */
const BY_NETWORK = [
  'payment_confirmed',
  'payment_password_guessed',
  'signed_in',
] as const satisfies readonly (typeof WARNING_KINDS)[number][];

/** A user, and what one browser of that user need not be warned of. */
export interface SeenByUser {
  readonly userId: string;
  /** Events up to here: microseconds since 1970. */
  readonly micros: string;
  /** Events of these sessions, by the beginnings of their ids. */
  readonly sessions: readonly string[];
}

/** As many hex digits of the id of a session tell it from all others. */
export const SESSION_ID_BEGINNING = 16;

// Those of an IPv4 /24 or an IPv6 /48 begin alike.
const NETWORK = `case when kind in ('${BY_NETWORK.join(`', '`)}') then substring(address from '^(?:\\d+\\.){3}|^(?:[^:]*:){3}') end`;

// Sign-ins in a browser where the password was typed before are no news. One whose session the trail does not name could be
// that of the browser which asks.
const IS_NEWS = `(kind <> 'signed_in' or (detail ->> 'known_device' = 'false' and detail ->> 'session' is not null))`;

const KINDS = WARNING_KINDS.map((kind) => `('${kind}')`).join(', ');

/** An event to warn of. */
export interface WarningRow extends HistoryRow {
  /** Of a sign-in; null where it isn't known. */
  readonly browser: string | null;
  readonly system: string | null;
  /** Events to warn of, equal ones included; 1 at least, and no more than were read. */
  readonly found: number;
}

// By `audit_events_warnings_idx`, in the months of these days: the newest of each kind, so that no kind pushes another away, and
// of those the newest of each application and network; where there are too many, one of each kind comes first. `now()`, unlike
// the clock, is known before partitions are chosen; there are some for months to come. `kind in` is there for the index, whose
// condition PostgreSQL would not see to be met without it.
/**
 * What a user is to be warned of, newest first, at most so many: of the last days, and not what the browser has seen. Of each
 * kind, application and, where a person with a password did it, network only the newest.
 */
export const findWarningEvents = findAll<SeenByUser & { most: number }, WarningRow>(
  'history-find-warnings',
  select(
    `
select * from (
  select distinct on (kind, client_id, ${NETWORK}) newest.*, count(*) over () as found
    from (values ${KINDS}) of_kind (wanted) cross join lateral (
    select * from audit_events
     where user_id = @userId and kind = wanted and kind in ('${WARNING_KINDS.join(`', '`)}')
       and ${IS_NEWS}
       and at > now() - interval '${WARNING_DAYS} days' and at < now() + interval '1 day'
       and at > timestamptz 'epoch' + @micros::bigint * interval '1 microsecond'
       and (left(detail ->> 'session', ${SESSION_ID_BEGINNING}) = any (@sessions::text[])) is not true
     order by at desc limit ${MAX_READ}) newest
   order by kind, client_id, ${NETWORK}, at desc) one_of_each
 order by row_number() over (partition by kind order by at desc), at desc limit @most`,
    `, a.found::int, a.detail ->> 'browser' as browser, a.detail ->> 'system' as system`,
  ),
);
