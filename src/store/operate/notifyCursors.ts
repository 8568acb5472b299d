import { findAll, findExactlyOne, findOne, write } from '../database/query.ts';

/** The cursor of all endpoints that keep up. */
export const TRAIL = 'trail';
/** The endpoint of messages to users. */
export const WALLET = 'wallet';

/** @param clientId null for the wallet */
export const receiverName = (clientId: string | null): string =>
  clientId === null ? WALLET : `client:${clientId}`;

/** A cursor of `assent notify`: of {@link TRAIL}, or of an endpoint that is behind, `wallet` or `client:` with a client_id. */
export interface NotifyCursor {
  readonly endpoint: string;
  readonly cursor: string;
  /** Ids of events after the cursor that were delivered. */
  readonly delivered: readonly string[];
  /** In a row. */
  readonly failures: number;
  readonly failingSince: Date | null;
  readonly lastError: string | null;
  readonly isDue: boolean;
  readonly isPaused: boolean;
}

/** An endpoint that fails for so long is paused until `assent notify resume`. */
export const PAUSED_AFTER_DAYS = 3;

export const findNotifyCursors = findAll<void, NotifyCursor>('notify-cursors-find')`
select endpoint, cursor, delivered, failures, failing_since as "failingSince", last_error as "lastError",
       next_try_at <= clock_timestamp() as "isDue",
       failing_since < clock_timestamp() - interval '${PAUSED_AFTER_DAYS} days' is true as "isPaused"
  from notify_cursors order by endpoint`;

/** For metrics. `notifyLag`: seconds since the oldest event that may be untold; null if `assent notify` has never run. */
export const findNotifyFacts = findExactlyOne<void, { notifyFailing: number; notifyLag: number | null }>(
  'notify-facts-find',
)`
select count(*) filter (where failures > 0)::int as "notifyFailing",
       extract(epoch from clock_timestamp())::float8
         - max(split_part(cursor, '.', 2)) filter (where endpoint = '${TRAIL}')::float8 / 1e6 as "notifyLag"
  from notify_cursors`;

export interface NewCursor extends Pick<NotifyCursor, 'endpoint' | 'cursor'> {
  readonly delivered?: readonly string[];
  readonly failures?: number;
  readonly lastError?: string;
  /** Seconds until the next try; now without it. */
  readonly delay?: number;
}

const save = write<{ cursors: string }>('notify-cursors-save')`
insert into notify_cursors as c (endpoint, cursor, delivered, failures, failing_since, last_error, next_try_at)
select endpoint, cursor, coalesce(delivered, '{}'), coalesce(failures, 0), case when failures > 0 then clock_timestamp() end, "lastError",
       clock_timestamp() + coalesce(delay, 0) * interval '1 second'
  from jsonb_to_recordset(@cursors::jsonb)
       as r (endpoint text, cursor text, delivered text[], failures int, "lastError" text, delay float8)
on conflict (endpoint) do update
   set (cursor, delivered, failures, failing_since, last_error, next_try_at) = row (excluded.cursor, excluded.delivered, excluded.failures,
       case when excluded.failures > 1 then coalesce(c.failing_since, excluded.failing_since) else excluded.failing_since end, excluded.last_error, excluded.next_try_at)`;

/** Stores cursors, all or none. */
export const saveNotifyCursors = (db: Parameters<typeof save>[0], cursors: readonly NewCursor[]) =>
  save(db, { cursors: JSON.stringify(cursors) });

/** Of endpoints that have caught up, or are no more. */
export const removeNotifyCursors = write<{ endpoints: readonly string[] }>('notify-cursors-remove')`
delete from notify_cursors where endpoint = any (@endpoints::text[])`;

/** Lets an endpoint that is behind be tried now, for as long as a new one. @returns its last error; null if none is behind */
export const resumeNotifying = findOne<{ endpoint: string }, { lastError: string | null }>('notify-resume')`
update notify_cursors set failures = 0, failing_since = null, next_try_at = clock_timestamp()
 where endpoint = @endpoint returning last_error as "lastError"`;

/** An application's address for events. */
export interface EventsEndpoint {
  readonly clientId: string;
  readonly uri: string;
  readonly isInternal: boolean;
}

export const findEventsEndpoints = findAll<void, EventsEndpoint>('notify-endpoints-find')`
select client_id as "clientId", events_uri as uri, events_internal as "isInternal" from clients where events_uri is not null`;

/** The language that a user has chosen on our pages; null for none. */
export const findLanguage = findOne<{ userId: string }, { language: string | null }>('notify-language-find')`
select language from users where user_id = @userId`;

export interface GrantToTell {
  readonly clientId: string;
  /** Null for all of an application's. */
  readonly grantId: string | null;
  readonly instanceName: string | null;
}

/** The live authorizations of a user from before a time, with applications that want to be told of events. */
export const findGrantsToTell = findAll<{ userId: string | null; at: Date }, GrantToTell>(
  'notify-grants-find',
)`
select grant_id as "grantId", client_id as "clientId", instance_name as "instanceName"
  from grants join clients using (client_id)
 where user_id = @userId and confirmed_at <= @at and events_uri is not null and is_live(code_expires_at, token_issued_at, revoked_at)`;
