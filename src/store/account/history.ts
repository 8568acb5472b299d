import type { Device } from '../../rules/account/userAgent.ts';
import { AUDIT_KINDS, type AuditKind, SHOWN_TO_USER_BY_EVENT_KIND } from '../common/auditEvents.ts';
import { microsSql, timeFromMicrosSql } from '../common/conditions.ts';
import { findAll } from '../database/query.ts';

/** Shown to the user: own acts, and events of the account and its authorizations. */
export type HistoryKind = {
  [Kind in AuditKind]: (typeof SHOWN_TO_USER_BY_EVENT_KIND)[Kind] extends true ? Kind : never;
}[AuditKind];
export const HISTORY_KINDS = AUDIT_KINDS.filter(
  (kind): kind is HistoryKind => SHOWN_TO_USER_BY_EVENT_KIND[kind],
);

/** Events that may mean a stolen password or code: pages warn about them. */
export const WARNING_KINDS = [
  'approved',
  'approved_again',
  'replayed',
  'password_guessed',
  'payment_password_guessed',
  'user_password_set',
  'signed_in',
] as const satisfies readonly HistoryKind[];

/** An event for its user, without the address of an operator; only sign-ins and approvals have a device. `clientName` is null also for a deleted application. */
export interface HistoryRow
  extends Device,
    Readonly<Record<'clientId' | 'clientName' | 'instanceName' | 'scope' | 'address', string | null>> {
  readonly kind: HistoryKind;
  readonly at: Date;
  /** The same in microseconds since 1970. */
  readonly micros: string;
  /** The number of an approval's receipt; null for other events. */
  readonly receipt: string | null;
  /** Of an approval that spends; null also if nothing had to confirm it. */
  readonly confirmedBy: 'payment_password' | 'provider' | null;
}

const APPROVALS = `('approved', 'approved_again')`;

const select = (events: string, others = '') => `
select a.kind, a.at, ${microsSql('a.at')}::text as micros, a.client_id as "clientId",
       c.name as "clientName", a.instance_name as "instanceName", a.scope, case when a.operator is null then a.address end as address, a.detail ->> 'confirmed_by' as "confirmedBy",
       a.detail ->> 'browser' as browser, a.detail ->> 'system' as system,
       case when a.kind in ${APPROVALS} then to_char(a.at at time zone 'UTC', 'YYYY-MM-DD-') || a.reference end as receipt${others}
  from (${events}) a
  left join clients c using (client_id)
 order by a.at desc`;

const OF_HISTORY = `user_id = @userId and kind <> 'exchanged' and kind in ('${HISTORY_KINDS.join(`', '`)}')`;
const CURSOR_TIME = timeFromMicrosSql('@micros');

// Keyset pagination over `audit_events_history_idx`; `ctid` orders events of the same time, since audit rows never move.
// The inner `limit @skip` bounds the events that a forged cursor skips.
/** A user's events from `micros` on, null for the newest, after at most `skip` of exactly that time; newest first. */
export const findHistory = findAll<
  { userId: string; micros: string | null; skip: number; most: number },
  HistoryRow
>('history-find')`${select(`
select * from audit_events where ${OF_HISTORY} and at <= coalesce(${CURSOR_TIME}, 'infinity') order by at desc, ctid
offset (select count(*) from (select from audit_events where ${OF_HISTORY} and at = ${CURSOR_TIME} limit @skip) passed) limit @most`)}`;

/** More than a user has in years: a search for what ended an approval. */
const MAX_EVENTS_SINCE = 10_000;

// Reject ends nothing.
/** A user's approval by the reference of its request, and before it, if there is one, the event that ended or replaced it. */
export const findApprovalAndEnd = findAll<
  { userId: string; reference: string; since: Date; until: Date },
  HistoryRow & Readonly<Record<'grantId' | 'scope', string>>
>('history-find-approval')`
with approval as (
  select grant_id as its_grant, at as its_time from audit_events
   where ${OF_HISTORY} and at >= @since and at < @until and kind in ${APPROVALS} and reference = @reference)
${select(
  `select later.* from approval cross join lateral (
     select * from audit_events where ${OF_HISTORY} and at >= its_time order by at limit ${MAX_EVENTS_SINCE}) later
    where grant_id = its_grant and kind <> 'rejected' order by at limit 2`,
  ', a.grant_id as "grantId"',
)}`;

export const WARNING_DAYS = 30;
/** Events of each kind that are searched for warnings. */
const MAX_EVENTS_READ = 200;

/** A user, and the warnings that one of that user's browsers doesn't need. Times are microseconds since 1970. */
interface SeenByUser {
  readonly userId: string;
  /** Events until this time. */
  readonly micros: string;
  /** Events of these sessions, by prefixes of their ids. */
  readonly sessions: readonly string[];
  /** Warnings, by the `seen` of their {@link WarningRow}. */
  readonly warnings: readonly string[];
}

/** Hex digits that distinguish a session's id from all others. */
export const SESSION_ID_PREFIX_LENGTH = 16;

// The common prefix of an IPv4 /24 or an IPv6 /48. Kinds with a password warn once per network: the user's own events must not
// hide an attacker's.
const NETWORK = `case when kind not in ('replayed', 'password_guessed', 'user_password_set') then substring(address from '^(?:\\d+\\.){3}|^(?:[^:]*:){3}') end`;

// Neither a sign-in in a browser that has sent the password before is news, nor an approval without a confirmation. An event
// without a session in the trail could be that of the requesting browser.
const IS_NEWS = `(kind not in ('approved', 'approved_again', 'signed_in')
  or detail ->> 'known_device' is distinct from 'true' and detail ->> 'session' is not null)`;

const KINDS = WARNING_KINDS.map((kind) => `('${kind}')`).join(', ');

// Events of one kind, application, network and device form one warning; both kinds of approval are one.
const ALIKE = `left(encode(sha256(convert_to(row(regexp_replace(kind, '^approved.*', 'approved'), client_id, ${NETWORK}, detail ->> 'browser', detail ->> 'system')::text, 'UTF8')), 'hex'), 12)`;

/** A warning: the newest of similar events. */
export interface WarningRow extends HistoryRow {
  readonly kind: (typeof WARNING_KINDS)[number];
  /** Their number, and the time of the first. */
  readonly times: number;
  readonly firstAt: Date;
  /** Identifies exactly these events: a digest of their common values, and the first and the last time in microseconds. */
  readonly seen: string;
  /** True if the user's history has further events to warn about. */
  readonly hasMore: boolean;
}

// By `audit_events_alerts_idx`, which PostgreSQL uses only for a literal `kind in`. `now()` prunes partitions. Each kind is
// read separately, so that none displaces another.
/** Warnings of the last days, unseen in the browser, newest first, at most so many. */
export const findWarningEvents = findAll<SeenByUser & { most: number }, WarningRow>(
  'history-find-warnings',
)`${select(
  `
select *, count(*) over () > @most or bool_or(read_of_kind = ${MAX_EVENTS_READ}) over () as has_more from (
  select distinct on (alike) *, min(at) over (partition by alike) as first_at, count(*) over (partition by alike)::int as times,
         count(*) over (partition by kind) as read_of_kind
    from (values ${KINDS}) of_kind (wanted) cross join lateral (
    select *, ${ALIKE} as alike from audit_events
     where user_id = @userId and kind = wanted and kind in ('${WARNING_KINDS.join(`', '`)}')
       and ${IS_NEWS}
       and at > now() - interval '${WARNING_DAYS} days' and at < now() + interval '1 day'
       and at > ${timeFromMicrosSql('@micros')}
       and (left(detail ->> 'session', ${SESSION_ID_PREFIX_LENGTH}) = any (@sessions::text[])) is not true
       and not exists (
         select from unnest(@warnings::text[]) w where split_part(w, '-', 1) = ${ALIKE}
            and ${microsSql('at')} between split_part(w, '-', 2)::bigint and split_part(w, '-', 3)::bigint)
     order by at desc limit ${MAX_EVENTS_READ}) newest
   order by alike, at desc) one_of_each
 order by row_number() over (partition by kind order by at desc), at desc limit @most`,
  `,
       a.times, a.first_at as "firstAt", concat_ws('-', a.alike, ${microsSql('a.first_at')}, ${microsSql('a.at')}) as seen,
       a.has_more as "hasMore"`,
)}`;
