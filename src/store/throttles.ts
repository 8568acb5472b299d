import type pg from 'pg';
import type { Caller, GuessingKind } from './auditEvents.ts';
import { type Database, execute, query } from './database.ts';

/** A counter of tries, as it stands. */
export interface Throttle {
  readonly slot: number;
  /** Tries that count, as of `countedAt`: each is forgotten a little with time. */
  readonly level: number;
  readonly countedAt: Date;
  /** When the next try may be made. */
  readonly freeAt: Date;
  /** The database's clock when this was read. */
  readonly now: Date;
}

const find = {
  name: 'throttle-find',
  text: `
with clock as materialized (select clock_timestamp() as now)
select asked.slot, coalesce(level, 0) as level, coalesce(counted_at, now) as "countedAt", coalesce(free_at, now) as "freeAt", now
  from unnest($1::int[]) as asked (slot) cross join clock left join throttles using (slot)`,
};

/** The counters in these slots, as they are now. Writes and locks nothing. */
export function findThrottles(db: Database, slots: readonly number[]): Promise<Throttle[]> {
  return query<Throttle>(db, find, [slots]);
}

// The update changes nothing: it locks what is there already, and gives it back as it is now.
const hold = {
  name: 'throttle-hold',
  text: `
insert into throttles as t (slot) select asked.slot from unnest($1::int[]) as asked (slot) order by asked.slot
on conflict (slot) do update set level = t.level
returning slot, level, counted_at as "countedAt", free_at as "freeAt", clock_timestamp() as now`,
};

/**
 * Locks counters until the end of the transaction, new ones at nothing. So of tries that come at once each sees the
 * one before it, on whichever replica that was.
 *
 * @param slots each once, sorted, so that two transactions can't wait for each other
 */
export async function holdThrottles(
  connection: pg.PoolClient,
  slots: readonly number[],
): Promise<Throttle[]> {
  const throttles = await query<Throttle>(connection, hold, [slots]);
  if (throttles.length !== slots.length) throw new Error('throttles: a counter is missing');
  return throttles;
}

const mark = {
  name: 'throttle-mark',
  text: `
update throttles t set level = a.level, counted_at = a.counted_at, free_at = a.free_at
  from unnest($1::int[], $2::float8[], $3::timestamptz[], $4::timestamptz[])
       as a (slot, level, counted_at, free_at)
 where t.slot = a.slot`,
};

/** Writes counters that are held. */
export async function markThrottles(db: Database, throttles: readonly Throttle[]): Promise<void> {
  await execute(db, mark, [
    throttles.map((throttle) => throttle.slot),
    throttles.map((throttle) => throttle.level),
    throttles.map((throttle) => throttle.countedAt),
    throttles.map((throttle) => throttle.freeAt),
  ]);
}

// Noted when it is written, not when it is counted: a try that is taken back uses up nobody's notice.
const noteGuess = {
  name: 'throttle-note-guess',
  text: `
with due as (
  update throttles set noted_at = clock_timestamp()
   where slot = $1 and (noted_at is null or noted_at < clock_timestamp() - interval '1 hour')
  returning slot
)
insert into audit_events (kind, user_id, address, reference)
select $2, $3, $4, $5 from due where $3::uuid is not null`,
};

/**
 * Tells the audit trail that somebody guesses at a user's password, at most once an hour for each counter.
 *
 * @param userId null for a login that nobody has: nearly the same work for nothing
 */
export async function noteGuessing(
  db: Database,
  slot: number,
  kind: GuessingKind,
  userId: string | null,
  { address, reference }: Caller,
): Promise<void> {
  await execute(db, noteGuess, [slot, kind, userId, address, reference]);
}
