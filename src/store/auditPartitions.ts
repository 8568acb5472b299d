import type pg from 'pg';
import { AUDIT_KEPT_MONTHS } from '../rules/lifetimes.ts';
import { recordAct } from './auditEvents.ts';
import { type Database, transaction } from './database.ts';
import { executeLong, queryOne, queryRow } from './query.ts';
import { statement } from './statement.ts';

// The audit trail has a partition for each month, in UTC. Only the owner of the tables makes and drops them; the server
// only adds rows, and works without.

/** Events after these go to the partition for the rest, unless `assent migrate` runs before. */
const MONTHS_AHEAD = 12;

/** The role that we are connected as may only read and write rows. */
class NotOwnerError extends Error {
  override readonly name = 'NotOwnerError';

  constructor() {
    super('only the owner of the tables may do this: set DATABASE_URL to the role that migrates');
  }
}

/** Whether the role that we are connected as may change the tables. */
export async function ownsTables(db: Database): Promise<boolean> {
  return (await queryOne<{ owns: boolean }>(db, OWNS_TABLES()))?.owns ?? false;
}

const OWNS_TABLES = statement(
  'audit-owns-tables',
  `select pg_has_role(relowner, 'usage') as owns from pg_class where oid = to_regclass('audit_events')`,
);

/** This month, in UTC and without a time zone. */
const THIS_MONTH = `date_trunc('month', clock_timestamp() at time zone 'UTC')`;

// The first month that has no partition, of those from the oldest row that is in none to some time from now. What claims to
// be from before or after the months that partitions are made for stays where it is: it could be from any year.
const NEXT_MONTH = statement<{ monthsAhead: number; monthsKept: number }>(
  '',
  `
select to_char(month, 'YYYY-MM-DD') as month, to_char(month + interval '1 month', 'YYYY-MM-DD') as next
  from generate_series(
         (select least(${THIS_MONTH}, date_trunc('month', min(at) at time zone 'UTC')) from audit_events_rest
           where at >= (${THIS_MONTH} - make_interval(months => @monthsKept)) at time zone 'UTC'),
         ${THIS_MONTH} + make_interval(months => @monthsAhead), '1 month') as month
 where to_regclass(to_char(month, '"audit_events_"YYYY_MM')) is null
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
 * @returns false when there was nothing to do, or the tables aren't ours to change
 */
export async function prepareAuditPartition(connection: pg.PoolClient): Promise<boolean> {
  if (!(await ownsTables(connection))) return false;
  const next = NEXT_MONTH({ monthsAhead: MONTHS_AHEAD, monthsKept: AUDIT_KEPT_MONTHS });
  const found = await queryOne<{ month: string; next: string }>(connection, next);
  if (found === null) return false;
  const name = `audit_events_${found.month.slice(0, 7).replace('-', '_')}`;
  const [from, to] = [`'${found.month} 00:00Z'`, `'${found.next} 00:00Z'`];
  // Moving rows is the one thing that the owner may do past the trigger that refuses every change.
  await executeLong(
    connection,
    `create table ${name} (like audit_events including defaults);
    alter table audit_events_rest disable trigger append_only;
    with moved as (delete from audit_events_rest where at >= ${from} and at < ${to} returning *)
      insert into ${name} select * from moved;
    alter table audit_events_rest enable trigger append_only;
    alter table audit_events attach partition ${name} for values from (${from}) to (${to});
    create trigger append_only_truncate before truncate on ${name}
      for each statement execute function refuse_change()`,
  );
  return true;
}

/**
 * Drops the partitions of the months that ended `months` or more months before this one, and the rows of those months
 * that are in none. Only for the owner of the tables.
 *
 * @returns the months that are gone, as `2026-11`, oldest first
 * @throws {NotOwnerError}
 */
export async function pruneAuditPartitions(
  pool: pg.Pool,
  months: number,
  operator: string,
): Promise<string[]> {
  if (!(await ownsTables(pool))) throw new NotOwnerError();
  return transaction(pool, async (connection) => {
    const { rows } = await connection.query<{ name: string; month: string }>(
      `select relname as name, replace(substr(relname, 14), '_', '-') as month
         from pg_inherits join pg_class on pg_class.oid = inhrelid
        where inhparent = 'audit_events'::regclass and relname ~ '^audit_events_[0-9]{4}_[0-9]{2}$'
          and to_date(substr(relname, 14), 'YYYY_MM')
              < ${THIS_MONTH} - make_interval(months => $1)`,
      [months],
    );
    for (const { name } of rows) await connection.query(`drop table ${name}`);
    const strays = await pruneStrays(connection, months);
    const gone = [...new Set([...rows.map(({ month }) => month), ...strays])].sort();
    if (gone.length > 0) {
      await recordAct(connection, { kind: 'trail_pruned', operator, detail: { months: gone, kept: months } });
    }
    return gone;
  });
}

async function pruneStrays(connection: pg.PoolClient, months: number): Promise<string[]> {
  await connection.query('alter table audit_events_rest disable trigger append_only');
  const { rows } = await connection.query<{ month: string }>(
    `with gone as (
       delete from audit_events_rest
        where at < (${THIS_MONTH} - make_interval(months => $1)) at time zone 'UTC' returning at)
     select distinct to_char(at at time zone 'UTC', 'YYYY-MM') as month from gone`,
    [months],
  );
  await connection.query('alter table audit_events_rest enable trigger append_only');
  return rows.map(({ month }) => month);
}
