import type pg from 'pg';
import type { AuditKind } from '../common/auditEvents.ts';
import { CURSOR_TIME_SQL, microsSql, timeFromMicrosSql, whereOf } from '../common/conditions.ts';
import { transaction } from '../database/database.ts';
import { findExactlyOne, findLong, queryPages, send } from '../database/query.ts';
import { statement } from '../database/statement.ts';

type Whom = 'operator' | 'userId' | 'login' | 'externalId' | 'clientId' | 'clientName';
type What = 'resourceId' | 'instanceName' | 'grantId' | 'scope' | 'address' | 'reference';

/**
 * One event, written in the transaction of the recorded change. `id`: 32 hex digits, the same on every read; `login` and
 * `clientName`: the current ones, null if deleted; `limits`: as on the decision's page.
 */
export interface AuditEvent extends Readonly<Record<Whom | What, string | null>> {
  readonly id: string;
  readonly at: Date;
  readonly outcome: AuditKind;
  readonly limits: unknown;
  readonly detail: Readonly<Record<string, unknown>> | null;
}

/** An event's place. `ctid` orders events of the same time, since audit rows never move. */
const PLACE = `${microsSql('a.at')} || '.' || btrim(a.place::text, '()')`;

const CONDITIONS = {
  userId: 'a.user_id = @userId',
  clientId: 'a.client_id = @clientId',
  grantId: 'a.grant_id = @grantId',
  resourceId: 'a.resource_id = @resourceId',
  reference: 'a.reference = @reference',
  outcome: 'a.kind = @outcome',
  since: 'a.at >= @since',
  until: 'a.at < @until',
  after: `a.at >= ${CURSOR_TIME_SQL} and (a.at > ${CURSOR_TIME_SQL} or a.ctid > ('(' || split_part(@after, '.', 2) || ')')::tid)`,
};

type AuditFilter = Readonly<Partial<Record<keyof typeof CONDITIONS, string | Date | null>>>;

/** The SQL for reading events. @param from a query with the columns of `audit_events` @param more a further column, as text */
const selectEvents = (from: string, more: string): string => `
select md5(concat_ws(' ', extract(epoch from a.at), a.kind, a.user_id, a.client_id, a.resource_id, a.grant_id, a.reference))
         as id,
       a.at, a.kind as outcome, a.operator, a.user_id as "userId", u.login, u.external_id as "externalId",
       a.client_id as "clientId", c.name as "clientName",
       a.resource_id as "resourceId", a.instance_name as "instanceName", a.grant_id as "grantId", a.scope, a.limits,
       a.address, a.reference, a.detail, a.${more}::text
  from (${from}) a left join users u using (user_id) left join clients c using (client_id)`;

/** The matching events, oldest first, in pages. @param limit how many: with `after` the first, else the newest; null for all */
export function findAuditEvents(pool: pg.Pool, filter: AuditFilter, limit: number | null) {
  const order = filter.after == null ? 'a.at desc, a.ctid desc' : 'a.at, a.ctid';
  const some = limit === null ? '' : `order by ${order} limit ${limit}`;
  const found = `select *, ctid as place from audit_events a where ${whereOf(CONDITIONS, filter)} ${some}`;
  const events = `select *, ${PLACE} as after from (${found}) a`; // not of rows that the limit leaves out
  const find = statement<AuditFilter>('', `${selectEvents(events, 'after')} order by a.at, a.place`);
  return queryPages<AuditEvent & { after: string }>(pool, find(filter));
}

// A cursor delivers each event once. A time or a sequence would lose events: a transaction takes its number at its beginning, and
// may commit after a reader has passed it. So a cursor is a transaction id below the oldest running transaction: all before it
// have ended, and no later event can have a lower one. `at` distinguishes ids that a failover or restore issues again.

/** Transaction ids of 64 bits, and times in microseconds since 1970. */
export interface TrailCursor {
  /** The first unread transaction. */
  readonly from: bigint;
  /** Unread transactions began at this time or later, except those that had run for a day when the first cursor was made. */
  readonly since: bigint;
  /** Time and transaction that made the cursor. */
  readonly at: bigint;
  readonly by: bigint;
  /** The time of the first migration: another installation's ids mean other transactions. A cursor of before has none. */
  readonly installation?: bigint | undefined;
}

/** Numbers that only this file understands. */
export function formatCursor({ from, since, at, by, installation }: TrailCursor): string {
  return [from, since, at, by, installation].join('.');
}

export function parseCursor(text: string): TrailCursor {
  const [from = 0n, since = 0n, at = 0n, by = 0n, installation] = text.split('.').map(BigInt);
  return { from, since, at, by, installation };
}

/** `idle`: seconds since a cursor was made; `lag`: since the oldest event that it may not have read. */
export function cursorAge(cursor: string) {
  const { at, since } = parseCursor(cursor);
  const secondsFrom = (micros: bigint) => Date.now() / 1_000 - Number(micros) / 1e6;
  return { since, idle: secondsFrom(at), lag: secondsFrom(since) };
}

/** A clock may be set back, and a statement takes some time from its first event to its first lock. */
const MARGIN = `interval '5 minutes'`;

/** The longest transaction covered by the first cursor: PostgreSQL reveals a transaction's beginning only to its own role. */
const DAY_MICROS = 86_400_000_000n;

// By its own id a transaction knows which others began before it.
const findNow = findExactlyOne<void, Record<'oldest' | 'own' | 'at' | 'installation', string>>(
  'audit-cursor-now',
)`
select pg_snapshot_xmin(s)::text as oldest, pg_current_xact_id()::text as own,
       ${microsSql('clock_timestamp()')}::text as at,
       (select ${microsSql('min(applied_at)')}::text from schema_migrations) as installation
  from pg_current_snapshot() s`;

// A row contains the lower 32 bits of its transaction; the others follow from our own. They can be wrong for a very old row,
// which its time excludes. Times have an end, too: rows from before the clock was set back must not recur each time.
const find = findLong<
  Record<'from' | 'since' | 'after', bigint> & Record<'at' | 'oldest' | 'own', string> & { most: number },
  AuditEvent & { transaction: string }
>('audit-find-since-cursor')`${selectEvents(
  `
select * from (
  select *, @own::bigint - ((@own::bigint - xmin::text::bigint) & 4294967295) as transaction from audit_events
   where at >= ${timeFromMicrosSql('@since')} - ${MARGIN}) numbered
 where (transaction >= @from::bigint or at > ${timeFromMicrosSql('@after')} and at <= ${timeFromMicrosSql('@at')})
   and transaction < @oldest::bigint
 order by transaction fetch first (@most::bigint) rows with ties`,
  'transaction',
)}
 order by a.transaction, a.at`;

const isForeign = ({ from, installation }: TrailCursor, now: Record<'own' | 'installation', string>) =>
  from > BigInt(now.own) || (installation !== undefined && installation !== BigInt(now.installation));

/** The cursor; one of another database, or of this one before a restore, begins again at its time: events may recur, none is lost. */
export async function ownCursor(pool: pg.Pool, text: string): Promise<string> {
  const [cursor, now] = [parseCursor(text), await findNow(pool)];
  if (!isForeign(cursor, now)) return text;
  return formatCursor({ ...cursor, from: 0n, by: BigInt(now.own), installation: BigInt(now.installation) });
}

/**
 * How many events are a part. Those of one transaction stay together, and those of one grant if the transaction with the lower id
 * wrote later, since it waited for the other's lock.
 */
function partLength(rows: readonly (AuditEvent & { transaction: string })[], most: number): number {
  const newest = new Map<string, Date>();
  let length = 0;
  for (const [index, { transaction, grantId, at }] of rows.entries()) {
    const isTied = transaction === rows[length - 1]?.transaction;
    const isEarlier = at < (newest.get(grantId ?? '') ?? at);
    if (index >= most && !isTied && !isEarlier) continue;
    for (const { grantId, at } of rows.slice(length, index + 1))
      if (grantId !== null && at > (newest.get(grantId) ?? 0)) newest.set(grantId, at);
    length = index + 1;
  }
  return length;
}

/**
 * The events since a cursor (null for now) and the next cursor; about `most` at most, as those of one transaction stay together.
 * @returns null if the cursor is of another database, or of this one before it was restored, whose ids are still behind
 */
export function findTrailPart(pool: pg.Pool, cursor: TrailCursor | null, most: number) {
  return transaction(pool, async (connection) => {
    const now = await findNow(connection);
    const [oldest, by, at] = [BigInt(now.oldest), BigInt(now.own), BigInt(now.at)];
    const installation = BigInt(now.installation);
    if (cursor === null)
      return { events: [], cursor: { from: oldest, since: at - DAY_MICROS, at, by, installation } };
    if (isForeign(cursor, now)) return null;
    // The number of rows depends on the cursor.
    await send(connection, 'set local plan_cache_mode = force_custom_plan');
    const atMost = 2 * most;
    const rows = await find(connection, { ...cursor, ...now, after: cursor.at, most: atMost });
    const events = rows.slice(0, partLength(rows, most));
    const isLast = events.length === rows.length && rows.length < atMost;
    const from = isLast ? oldest : BigInt(events.at(-1)?.transaction ?? oldest) + 1n;
    // Transactions from before the last cursor have ended, or are no older than it.
    const since = from > cursor.by ? cursor.at : cursor.since;
    return { events, cursor: { from, since, at, by, installation } };
  });
}
