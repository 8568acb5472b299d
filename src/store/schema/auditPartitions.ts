import type pg from 'pg';
import { AUDIT_KEPT_MONTHS } from '../../rules/common/lifetimes.ts';
import { LOCK_MS } from '../../rules/common/timeouts.ts';
import { type Actor, recordAct } from '../common/auditEvents.ts';
import type { Database } from '../database/database.ts';
import {
  executeLong,
  findAll,
  findExactlyOne,
  findLong,
  findOne,
  queryLong,
  send,
  write,
} from '../database/query.ts';
import { schemaState, untilDoneOrBusy } from './schemaState.ts';

// The audit trail has a partition for each month, in UTC. Only the owner of the tables makes and drops them; the server
// only adds rows, and works without.

/** Later events go to the default partition, unless `assent migrate` runs before. */
const MONTHS_AHEAD = 12;
/** Fewer are a warning: time to find the owner of the tables. */
export const MIN_MONTHS_AHEAD = 3;

const owned = write<void>('audit-owns-tables')`
  select from pg_class where oid = to_regclass('audit_events') and pg_has_role(relowner, 'usage')`;

export const ownsTables = async (db: Database): Promise<boolean> => (await owned(db)) > 0;

const THIS_MONTH = `date_trunc('month', clock_timestamp() at time zone 'UTC')`;

/** The partitions: `id`, `name`, and `month` as a date, which is null for the default one. */
const PARTITIONS = `(
         select inhrelid as id, relname as name,
                to_date(substring(relname, '^audit_events_([0-9]{4}_[0-9]{2})$'), 'YYYY_MM') as month
           from pg_inherits join pg_class on pg_class.oid = inhrelid
          where inhparent = 'audit_events'::regclass) as partitions`;

const MONTHS_LEFT = `(select count(*)::int from ${PARTITIONS} where month > ${THIS_MONTH})`;

/** Sizes, such as `12 MB`, of all and of last month's partition, and the number of future ones. @throws without an audit trail */
export const findTrailFacts = findExactlyOne<
  void,
  { size: string; lastMonth: string | null; monthsAhead: number }
>('')`
select pg_size_pretty((select sum(pg_total_relation_size(relid)) from pg_partition_tree('audit_events'))) as size,
       (select pg_size_pretty(pg_total_relation_size(id)) from ${PARTITIONS}
         where month = ${THIS_MONTH} - interval '1 month') as "lastMonth",
       ${MONTHS_LEFT} as "monthsAhead"`;

/** Facts that the server's role may read. */
export type SchemaFacts = Readonly<Record<'schemaVersion' | 'monthsAhead', number>>;

/** @throws without an audit trail */
export const findSchemaFacts = findExactlyOne<void, SchemaFacts>('schema-facts')`
  select (select max(version)::int from schema_migrations) as "schemaVersion", ${MONTHS_LEFT} as "monthsAhead"`;

// The first month without a partition, from the oldest row outside all of them to some future month. A row too old for one
// stays outside: its time may be wrong.
const findNextMonth = findOne<void, { name: string; from: string; to: string }>('')`
select name, to_char(month, 'YYYY-MM-DD 00:00Z') as "from",
       to_char(month + interval '1 month', 'YYYY-MM-DD 00:00Z') as "to"
  from generate_series(
         (select least(${THIS_MONTH}, date_trunc('month', min(at) at time zone 'UTC')) from audit_events_rest
           where at >= (${THIS_MONTH} - make_interval(months => ${AUDIT_KEPT_MONTHS})) at time zone 'UTC'),
         ${THIS_MONTH} + make_interval(months => ${MONTHS_AHEAD}), '1 month') as month,
       to_char(month, '"audit_events_"YYYY_MM') as name
 where to_regclass(name) is null
 order by month limit 1`;

/** The number of events outside all months' partitions, for the owner of the tables. */
export const countStrays = findExactlyOne<void, { readonly strays: number }>('')`
  select count(*)::int as strays from audit_events_rest`;

/** Makes the trail's missing partitions, if the tables are ours. @returns their names; `busy` if a reader prevented others */
export const preparePartitions = (pool: pg.Pool) => untilDoneOrBusy(pool, preparePartition);

/**
 * Makes the next partition, up to {@link MONTHS_AHEAD} months from now, and moves its rows there, which may take long. Only a
 * newer build makes a newer schema's. @returns its name; null if none is missing, or the tables aren't ours to change
 * @throws if a reader holds the trail for longer: queuing for its lock would block later readers
 */
async function preparePartition(connection: pg.PoolClient): Promise<string | null> {
  const { version, known } = await schemaState(connection);
  if (version !== known || !(await ownsTables(connection))) return null;
  const nextMonth = await findNextMonth(connection);
  if (nextMonth === null) return null;
  const { name, from, to } = nextMonth;
  // Moving rows is the owner's only way past the trigger that refuses every change.
  await executeLong(
    connection,
    `set local lock_timeout = ${LOCK_MS};
    create table ${name} (like audit_events including defaults)  -- with the settings of audit_events_rest
      with (autovacuum_freeze_min_age = 0, autovacuum_vacuum_insert_threshold = 20000);
    alter table audit_events_rest disable trigger append_only;
    with moved as (delete from audit_events_rest where at >= '${from}' and at < '${to}' returning *)
      insert into ${name} select * from moved;
    alter table audit_events_rest enable trigger append_only;
    alter table audit_events attach partition ${name} for values from ('${from}') to ('${to}');
    create trigger append_only_truncate before truncate on ${name}
      for each statement execute function refuse_change()`,
  );
  return name;
}

/** PostgreSQL analyzes the partitions automatically, but never the whole trail. Only for the owner of the tables. */
export const analyzeTrail = (pool: pg.Pool) => queryLong(pool, { name: '', text: 'analyze audit_events' });

/**
 * Drops the partitions of months that ended `months` or more months ago, and such months' rows outside of any. Writers of the
 * trail wait while a partition is dropped: each drop is its own transaction, with a short lock timeout.
 * @returns the dropped months, as `2026-11`, oldest first; `busy` if a reader of the trail prevented others
 */
export async function pruneAuditPartitions(pool: pg.Pool, months: number, operator: Actor) {
  if (!(await ownsTables(pool)))
    throw new Error('only the owner of the tables may do this: set DATABASE_URL to the role that migrates');
  const { done, busy } = await untilDoneOrBusy(pool, async (connection) => {
    const oldest = await findOldest(connection, { months });
    if (oldest !== null) await send(connection, `drop table ${oldest.name}`);
    const gone = oldest === null ? await pruneStrays(connection, months) : [oldest.month];
    if (gone.length === 0) return null;
    await recordAct(connection, { kind: 'trail_pruned', operator, detail: { months: gone, kept: months } });
    return gone;
  });
  return { months: [...new Set(done.flat())].sort(), busy };
}

// In a subquery the clock is read once, so that only old partitions are read.
/** The number of rows that this would drop, and their months, such as `2026-10, 2026-11`; null for none. */
export const countPrunableEvents = findLong<{ months: number }, { rows: number; months: string | null }>('')`
select coalesce(sum(rows), 0)::float8 as rows, string_agg(month, ', ' order by month) as months from (
  select to_char(at at time zone 'UTC', 'YYYY-MM') as month, count(*) as rows from audit_events
   where at < (select (${THIS_MONTH} - make_interval(months => @months)) at time zone 'UTC') group by 1) old`;

const findOldest = findOne<{ months: number }, { name: string; month: string }>('')`
  select name, to_char(month, 'YYYY-MM') as month from ${PARTITIONS}
   where month < ${THIS_MONTH} - make_interval(months => @months) order by partitions.month limit 1`;

const deleteStrays = findAll<{ months: number }, { month: string }>('')`
  with gone as (
    delete from audit_events_rest
     where at < (${THIS_MONTH} - make_interval(months => @months)) at time zone 'UTC' returning at)
  select distinct to_char(at at time zone 'UTC', 'YYYY-MM') as month from gone`;

/** @returns the months of the deleted rows */
async function pruneStrays(connection: pg.PoolClient, months: number): Promise<string[]> {
  await send(connection, 'alter table audit_events_rest disable trigger append_only');
  const rows = await deleteStrays(connection, { months });
  await send(connection, 'alter table audit_events_rest enable trigger append_only');
  return rows.map(({ month }) => month);
}
