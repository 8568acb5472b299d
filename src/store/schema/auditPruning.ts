import type pg from 'pg';
import { recordAct } from '../common/auditEvents.ts';
import { queryLong } from '../database/query.ts';
import { ownsTables, PARTITIONS, THIS_MONTH } from './auditPartitions.ts';
import { untilDoneOrBusy } from './migrationLock.ts';

/**
 * Drops the partitions of months that ended `months` or more months ago, and such months' rows outside of any. Writers of the
 * trail wait while a partition is dropped: each drop is its own transaction, with a short lock timeout.
 * @returns the dropped months, as `2026-11`, oldest first; `busy` if a reader of the trail prevented others
 */
export async function pruneAuditPartitions(pool: pg.Pool, months: number, operator: string) {
  if (!(await ownsTables(pool))) {
    throw new Error('only the owner of the tables may do this: set DATABASE_URL to the role that migrates');
  }
  const { done, busy } = await untilDoneOrBusy(pool, async (connection) => {
    const gone = (await dropOldest(connection, months)) ?? (await pruneStrays(connection, months));
    if (gone === null) return null;
    await recordAct(connection, { kind: 'trail_pruned', operator, detail: { months: gone, kept: months } });
    return gone;
  });
  return { months: [...new Set(done.flat())].sort(), busy };
}

/** The number of rows that this would drop, and their months, such as `2026-10, 2026-11`; null for none. */
export async function findPrunable(pool: pg.Pool, months: number) {
  // In a subquery the clock is read once, so that only old partitions are read.
  const text = `
select coalesce(sum(rows), 0)::float8 as rows, string_agg(month, ', ' order by month) as months from (
  select to_char(at at time zone 'UTC', 'YYYY-MM') as month, count(*) as rows from audit_events
   where at < (select (${THIS_MONTH} - make_interval(months => $1)) at time zone 'UTC') group by 1) old`;
  const values = [months];
  return (await queryLong<{ rows: number; months: string | null }>(pool, { name: '', text, values }))[0];
}

/** @returns its month; null if no partition is that old */
async function dropOldest(connection: pg.PoolClient, months: number): Promise<string[] | null> {
  const { rows } = await connection.query<{ name: string; month: string }>(
    `select name, to_char(month, 'YYYY-MM') as month from ${PARTITIONS}
      where month < ${THIS_MONTH} - make_interval(months => $1) order by partitions.month limit 1`,
    [months],
  );
  const [oldest] = rows;
  if (oldest === undefined) return null;
  await connection.query(`drop table ${oldest.name}`);
  return [oldest.month];
}

/** @returns the months of the deleted rows; null for none */
async function pruneStrays(connection: pg.PoolClient, months: number): Promise<string[] | null> {
  await connection.query('alter table audit_events_rest disable trigger append_only');
  const { rows } = await connection.query<{ month: string }>(
    `with gone as (
       delete from audit_events_rest
        where at < (${THIS_MONTH} - make_interval(months => $1)) at time zone 'UTC' returning at)
     select distinct to_char(at at time zone 'UTC', 'YYYY-MM') as month from gone`,
    [months],
  );
  await connection.query('alter table audit_events_rest enable trigger append_only');
  return rows.length === 0 ? null : rows.map(({ month }) => month);
}
