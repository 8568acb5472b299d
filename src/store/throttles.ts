import type pg from 'pg';
import { type Database, select } from './database.ts';

/** A counter of tries, as it stands. */
export interface Throttle {
  /** 64 hexadecimal digits. */
  readonly key: string;
  /** Tries that count, as of `countedAt`: each is forgotten a little with time. */
  readonly level: number;
  readonly countedAt: Date;
  /** When the next try may be made. */
  readonly freeAt: Date;
  /** Until when this place is known by a try that was right. */
  readonly trustedUntil: Date;
  /** When nothing in it matters any more. */
  readonly forgetAt: Date;
}

// The update changes nothing: it locks what is there already, and gives it back as it is now.
const hold = {
  name: 'throttle-hold',
  text: `
insert into throttles as t (key)
select decode(asked.key, 'hex') from unnest($1::text[]) as asked (key) order by asked.key
on conflict (key) do update set level = t.level
returning encode(key, 'hex') as key, level, counted_at as "countedAt", free_at as "freeAt",
          trusted_until as "trustedUntil", forget_at as "forgetAt", clock_timestamp() as now`,
};

/**
 * Locks counters until the end of the transaction, new ones at nothing. So of tries that come at once each sees the
 * one before it, on whichever replica that was.
 *
 * @param keys each once, sorted, so that nobody waits in a circle
 * @returns the counters in the order of their keys, and the database's clock
 */
export async function holdThrottles(
  connection: pg.PoolClient,
  keys: readonly string[],
): Promise<{ throttles: Throttle[]; now: Date }> {
  const rows = await select<Throttle & { now: Date }>(connection, hold, [keys]);
  const now = rows.at(-1)?.now;
  if (now === undefined || rows.length !== keys.length) throw new Error('throttles: a counter is missing');
  return { throttles: rows, now };
}

// Whoever counts sweeps away a few that are forgotten, more than it can have added: so the table never holds
// more than what still matters.
const mark = {
  name: 'throttle-mark',
  text: `
with swept as (
  delete from throttles where key in (
    select key from throttles where forget_at < clock_timestamp() and encode(key, 'hex') <> all ($1::text[]) limit 10 for update skip locked)
)
update throttles t set level = a.level, counted_at = a.counted_at, free_at = a.free_at,
                       trusted_until = a.trusted_until, forget_at = a.forget_at
  from unnest($1::text[], $2::float8[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[])
       as a (key, level, counted_at, free_at, trusted_until, forget_at)
 where t.key = decode(a.key, 'hex')`,
};

/** Writes counters that are held. */
export async function markThrottles(db: Database, throttles: readonly Throttle[]): Promise<void> {
  await select(db, mark, [
    throttles.map((throttle) => throttle.key),
    throttles.map((throttle) => throttle.level),
    throttles.map((throttle) => throttle.countedAt),
    throttles.map((throttle) => throttle.freeAt),
    throttles.map((throttle) => throttle.trustedUntil),
    throttles.map((throttle) => throttle.forgetAt),
  ]);
}
