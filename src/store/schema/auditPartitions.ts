import type pg from 'pg';
import { AUDIT_KEPT_MONTHS } from '../../rules/lifetimes.ts';
import { LOCK_MS } from '../../rules/timeouts.ts';
import { type Database, transaction } from '../database/database.ts';
import { execute, executeLong, queryOne, queryRow } from '../database/query.ts';
import { statement } from '../database/statement.ts';

// The audit trail has a partition for each month, in UTC. Only the owner of the tables makes and drops them; the server
// only adds rows, and works without.

/** Events after these go to the partition for the rest, unless `assent migrate` runs before. */
const MONTHS_AHEAD = 12;

/** As `migrations/0013_years.sql` has them for the months of its time. */
const MONTH_SETTINGS = 'autovacuum_freeze_min_age = 0, autovacuum_vacuum_insert_threshold = 20000';

/** Whether the role that we are connected as may change the tables. */
export async function ownsTables(db: Database): Promise<boolean> {
  return (await execute(db, OWNS_TABLES())) > 0;
}

const OWNS_TABLES = statement(
  'audit-owns-tables',
  `select from pg_class where oid = to_regclass('audit_events') and pg_has_role(relowner, 'usage')`,
);

/** This month, in UTC and without a time zone. */
export const THIS_MONTH = `date_trunc('month', clock_timestamp() at time zone 'UTC')`;

/** The partitions: each one's `id`, `name`, and `month` as a date, which is null for the rest. */
export const PARTITIONS = `(
         select inhrelid as id, relname as name,
                to_date(substring(relname, '^audit_events_([0-9]{4}_[0-9]{2})$'), 'YYYY_MM') as month
           from pg_inherits join pg_class on pg_class.oid = inhrelid
          where inhparent = 'audit_events'::regclass) as partitions`;

/** For how many months from now on there are partitions. */
const MONTHS_LEFT = `(select count(*)::int from ${PARTITIONS} where month > ${THIS_MONTH})`;
/** When the oldest partition begins, in SQL: of what was before, the trail needn't know any more. */
export const TRAIL_BEGINS = `(select min(month)::timestamp at time zone 'UTC' from ${PARTITIONS})`;

const TRAIL = statement(
  '',
  `
select pg_size_pretty((select sum(pg_total_relation_size(relid)) from pg_partition_tree('audit_events'))) as size,
       (select pg_size_pretty(pg_total_relation_size(id)) from ${PARTITIONS}
         where month = ${THIS_MONTH} - interval '1 month') as "lastMonth",
       exists (select from ${PARTITIONS} where month = ${THIS_MONTH}) as "coversNow",
       ${MONTHS_LEFT} as "monthsAhead"`,
);

/** The size of the audit trail, and how far its partitions reach. */
interface TrailFacts {
  /** For people, such as `12 MB`. */
  readonly size: string;
  /** The size of the month before this one, when it has a partition. */
  readonly lastMonth: string | null;
  /** Whether this month has a partition. */
  readonly coversNow: boolean;
  /** For how many months from now on there are partitions. */
  readonly monthsAhead: number;
}

const LEFT = statement('audit-months-ahead', `select ${MONTHS_LEFT} as "monthsAhead"`);

/** For how many months from now on the trail has partitions; the server's role may ask, too. @throws when there is no trail */
export const monthsAhead = async (db: Database): Promise<number> =>
  (await queryRow<{ monthsAhead: number }>(db, LEFT())).monthsAhead;

/** @throws when there is no trail */
export const findTrailFacts = (db: Database): Promise<TrailFacts> => queryRow(db, TRAIL());

// The first month that has no partition, of those from the oldest row that is in none to some time from now. What claims to
// be from before or after the months that partitions are made for stays where it is: it could be from any year.
const NEXT_MONTH = statement<{ monthsAhead: number; monthsKept: number }>(
  '',
  `
select name, to_char(month, 'YYYY-MM-DD 00:00Z') as "from",
       to_char(month + interval '1 month', 'YYYY-MM-DD 00:00Z') as "to"
  from generate_series(
         (select least(${THIS_MONTH}, date_trunc('month', min(at) at time zone 'UTC')) from audit_events_rest
           where at >= (${THIS_MONTH} - make_interval(months => @monthsKept)) at time zone 'UTC'),
         ${THIS_MONTH} + make_interval(months => @monthsAhead), '1 month') as month,
       to_char(month, '"audit_events_"YYYY_MM') as name
 where to_regclass(name) is null
 order by month limit 1`,
);

const STRAYS = statement(
  '',
  `
select count(*)::int as rows, count(*) filter (where at < ${THIS_MONTH} at time zone 'UTC')::int as early from audit_events_rest`,
);

/** How many events are in no month's partition, and how many of them claim to be older than this month. */
export async function countStrays(db: Database): Promise<{ readonly rows: number; readonly early: number }> {
  if (!(await ownsTables(db))) return { rows: 0, early: 0 };
  return queryRow<{ rows: number; early: number }>(db, STRAYS());
}

/**
 * Makes the next partition that there should be, up to {@link MONTHS_AHEAD} months from now, and moves what was written
 * meanwhile into it. Within a transaction whose statements may take long: there may be many rows to move.
 *
 * @returns its name; null when there was nothing to do, or the tables aren't ours to change
 * @throws when somebody reads the trail for longer: waiting for that would make everybody else wait who reads it
 */
export async function prepareAuditPartition(connection: pg.PoolClient): Promise<string | null> {
  if (!(await ownsTables(connection))) return null;
  const next = NEXT_MONTH({ monthsAhead: MONTHS_AHEAD, monthsKept: AUDIT_KEPT_MONTHS });
  const found = await queryOne<{ name: string; from: string; to: string }>(connection, next);
  if (found === null) return null;
  const { name, from, to } = found;
  // Moving rows is the one thing that the owner may do past the trigger that refuses every change.
  await executeLong(
    connection,
    `set local lock_timeout = ${LOCK_MS};
    create table ${name} (like audit_events including defaults) with (${MONTH_SETTINGS});
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

/** PostgreSQL analyzes the months by itself, and never the trail as a whole. Only for the owner of the tables. */
export async function analyzeTrail(pool: pg.Pool): Promise<void> {
  await transaction(pool, async (connection) => {
    await executeLong(connection, 'set local statement_timeout = 0; analyze audit_events');
  });
}
