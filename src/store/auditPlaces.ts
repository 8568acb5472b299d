import type pg from 'pg';
import { type AuditEvent, selectEvents } from './auditTrail.ts';
import { transaction } from './database/database.ts';
import { queryLong, queryRow } from './database/query.ts';
import { statement } from './database/statement.ts';

// Following the trail: whoever goes on from the place that came with the last events gets each event once. The time of an
// event can't be that place, since one that is written first may be committed last. The id of its transaction can: of the
// transactions before the oldest that still runs, all are over, and what they wrote is there to be read.
//
// A standby that takes over, a restored database and one that crashed may give ids once more that were read already. What
// such transactions write is from after the place was made; what was read with the place is from before, and comes once.

/** How far the trail was read: transaction ids of 64 bits, and times in microseconds since 1970. */
export interface TrailPlace {
  /** The first transaction that wasn't read. */
  readonly from: bigint;
  /** Neither it nor a later one began before this time, unless it ran for a day when the first place was made. */
  readonly since: bigint;
  /** When the place was made, and by which transaction. */
  readonly at: bigint;
  readonly by: bigint;
}

/** What was written since a place, in the order of its transactions, and where to go on. */
export interface TrailPart {
  readonly events: readonly AuditEvent[];
  readonly place: TrailPlace;
}

/** A clock may be set back, and a statement takes some time from its first event to its first lock. */
const MARGIN = `interval '5 minutes'`;

/** How long a transaction may have run when the first place is made: when it began, only its own role is told. */
const DAY_MICROS = 86_400_000_000n;

const AHEAD =
  'the place is of another database, or of this one before a failover or restore: begin without one, or ask again later';

type Digits<Names extends string> = Readonly<Record<Names, string>>;

// With its own id a transaction knows which others began before it.
const findNow = statement(
  'audit-place-now',
  `
select pg_snapshot_xmin(s)::text as oldest, pg_current_xact_id()::text as own,
       (extract(epoch from clock_timestamp()) * 1000000)::bigint::text as at
  from pg_current_snapshot() s`,
);

const timeOf = (micros: string) => `timestamptz 'epoch' + @${micros}::bigint * interval '1 microsecond'`;

// A row knows the lower 32 bits of its transaction; the others follow from our own. They can be wrong for a very old row,
// whose time keeps it out. Times have an end as well: what was written before the clock was set back must not come each time.
const find = statement<Digits<'from' | 'since' | 'after' | 'at' | 'oldest' | 'own'> & { most: number }>(
  'audit-find-since-place',
  `${selectEvents(
    `
select * from (
  select *, @own::bigint - ((@own::bigint - xmin::text::bigint) & 4294967295) as transaction from audit_events
   where at >= ${timeOf('since')} - ${MARGIN}) numbered
 where (transaction >= @from::bigint or at > ${timeOf('after')} and at <= ${timeOf('at')})
   and transaction < @oldest::bigint
 order by transaction fetch first (@most::bigint) rows with ties`,
    'transaction',
  )}
 order by a.transaction, a.at`,
);

/**
 * The events since a place, at most about so many: those of one transaction stay together.
 *
 * @param place null for now, which has no events yet
 * @throws {Error} when the place is of another database, or of this one before it was restored, whose ids are still behind
 */
export function findTrailPart(pool: pg.Pool, place: TrailPlace | null, most: number): Promise<TrailPart> {
  return transaction(pool, async (connection) => {
    const now = await queryRow<Digits<'oldest' | 'own' | 'at'>>(connection, findNow());
    const [oldest, by, at] = [BigInt(now.oldest), BigInt(now.own), BigInt(now.at)];
    if (place === null) return { events: [], place: { from: oldest, since: at - DAY_MICROS, at, by } };
    if (place.from > by) throw new Error(AHEAD);
    // How much there is depends on the place.
    await connection.query('set local plan_cache_mode = force_custom_plan');
    const values = { from: String(place.from), since: String(place.since), after: String(place.at), most };
    const rows = await queryLong<AuditEvent & { transaction: string }>(
      connection,
      find({ ...now, ...values }),
    );
    const last = rows.length < most ? undefined : rows.at(-1);
    const from = last === undefined ? oldest : BigInt(last.transaction) + 1n;
    // What ran when the last place was made is over, or is not older than that.
    const since = from > place.by ? place.at : place.since;
    const events = rows.map(({ transaction: _transaction, ...event }) => event);
    return { events, place: { from, since, at, by } };
  });
}
