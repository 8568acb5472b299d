import { THROTTLE_POLICIES } from '../../rules/account/throttle.ts';
import { MAX_SESSION_HOURS, REFUSALS_KEPT_DAYS } from '../../rules/common/lifetimes.ts';
import type { Database } from '../database/database.ts';
import { write } from '../database/query.ts';

/** Rows that one statement deletes: it takes some milliseconds. */
export const MAX_EXPIRED_AT_ONCE = 1_000;

/** Key of the advisory lock that lets one process at a time remove expired rows. */
const EXPIRY_LOCK = 7_274_828;

const SLOWEST_DECAY_SECONDS = Math.max(
  ...Object.values(THROTTLE_POLICIES).map(({ decaySeconds }) => decaySeconds),
);

// `skip locked`: neither blocks nor is blocked.
/** @param key of the table @param unused the condition for unused rows */
const removeExpiredFrom = (table: string, key: string, unused: string) =>
  write<void>(`expired-remove-${table}`)`
with alone as materialized (select pg_try_advisory_xact_lock(${EXPIRY_LOCK}) as is_alone)
delete from ${table} where ${key} = any (array(
  select ${key} from ${table} where (select is_alone from alone)
   and ${unused}
   limit ${MAX_EXPIRED_AT_ONCE} for update skip locked))`;

/** Removes expired rows, at most {@link MAX_EXPIRED_AT_ONCE}; none while another process does so. @returns how many */
export const removeExpired = {
  /** An idle one is no longer accepted, and is removed at its maximal age. */
  sessions: removeExpiredFrom(
    'sessions',
    'session_hash',
    `created_at < clock_timestamp() - interval '${MAX_SESSION_HOURS} hours' order by created_at`,
  ),
  rejections: removeExpiredFrom(
    'rejections',
    'page_hash',
    'expires_at < clock_timestamp() order by expires_at',
  ),
  operator_sessions: removeExpiredFrom(
    'operator_sessions',
    'session_hash',
    'expires_at < clock_timestamp() order by expires_at',
  ),
  refusals: removeExpiredFrom(
    'refusals',
    'slot',
    `at < clock_timestamp() - interval '${REFUSALS_KEPT_DAYS} days'`,
  ),
  /** A counter at zero equals none. */
  throttles: removeExpiredFrom(
    'throttles',
    'slot',
    `greatest(free_at, counted_at + level * interval '${SLOWEST_DECAY_SECONDS} seconds', noted_at + interval '1 hour') < clock_timestamp()`,
  ),
};

export type ExpiringTable = keyof typeof removeExpired;
export const EXPIRING_TABLES = Object.keys(removeExpired) as ExpiringTable[];

/** Removes a table's expired rows, as long as it `goesOn` after so many statements. @returns how many rows */
export async function removeAllExpired(db: Database, table: ExpiringTable, goesOn = (_: number) => true) {
  let removed = 0;
  for (let statements = 0; goesOn(statements); statements += 1) {
    const rows = await removeExpired[table](db);
    removed += rows;
    if (rows < MAX_EXPIRED_AT_ONCE) break;
  }
  return removed;
}

/** Rows that one statement deletes of a table that grows with each payment. */
const MAX_PAYMENTS_AT_ONCE = 20_000;

/** The longest period of a grant's limits in days; an unwritten one is a day. */
const LONGEST_PERIOD = String.raw`
  (select coalesce(max(found[1]::int), 1) from regexp_matches(g.scope, '\.limit\((\d+),', 'g') found)`;

const removePayments = write<void>('payments-remove')`
delete from payment_reservations where (grant_id, budget, paid_at) in (
  select grant_id, budget, paid_at from payment_reservations p join grants g using (grant_id)
   where p.paid_at < clock_timestamp() - interval '24 hours'
     and p.paid_at < clock_timestamp() - ${LONGEST_PERIOD} * interval '24 hours'
     and (p.days is not null or p.token_issued_at is distinct from g.token_issued_at)
   limit ${MAX_PAYMENTS_AT_ONCE})`;

/** Removes payments that no limit of their grant counts, as the owner of the tables. @returns how many */
export async function removeUncountedPayments(db: Database): Promise<number> {
  for (let removed = 0; ; ) {
    const rows = await removePayments(db);
    removed += rows;
    if (rows < MAX_PAYMENTS_AT_ONCE) return removed;
  }
}
