import type { Database } from './database.ts';
import { StandbyError } from './errors.ts';
import { queryRow } from './query.ts';
import { statement } from './statement.ts';

const TABLES = statement(
  'health-tables',
  `select current_setting('transaction_read_only') = 'on' as "readOnly"
           from (select) one left join (select from clients limit 0) ours on true`,
);

/** @throws when the database is away, lacks our tables, or takes no writes */
export async function checkTables(db: Database): Promise<void> {
  const { readOnly } = await queryRow<{ readOnly: boolean }>(db, TABLES());
  if (readOnly) throw new StandbyError();
}

/** What PostgreSQL says of itself, of its database and of our connection, for `assent doctor`. */
export interface DatabaseFacts {
  /** For example 180004 for 18.4. */
  readonly versionNumber: number;
  readonly version: string;
  readonly encoding: string;
  readonly isStandby: boolean;
  readonly readOnly: boolean;
  readonly fsync: boolean;
  readonly fullPageWrites: boolean;
  readonly synchronousCommit: string;
  /** Of our transactions, whatever the database's default is. */
  readonly isolation: string;
  /** By how many seconds the database's clock and this process's differ. */
  readonly skewSeconds: number;
  readonly role: string;
}

const FACTS = statement<{ now: number }>(
  '',
  `select current_setting('server_version_num')::int as "versionNumber",
                current_setting('server_version') as version,
                current_setting('server_encoding') as encoding,
                pg_is_in_recovery() as "isStandby",
                current_setting('transaction_read_only') = 'on' as "readOnly",
                current_setting('fsync') = 'on' as fsync,
                current_setting('full_page_writes') = 'on' as "fullPageWrites",
                current_setting('synchronous_commit') as "synchronousCommit",
                current_setting('transaction_isolation') as isolation,
                abs(extract(epoch from clock_timestamp()) - @now)::float8 as "skewSeconds",
                current_user as role`,
);

/** @throws when the database is away */
export const findDatabaseFacts = (db: Database): Promise<DatabaseFacts> =>
  queryRow(db, FACTS({ now: Date.now() / 1000 }));

/** The size of the audit trail, and how far its partitions reach. */
export interface TrailFacts {
  /** For people, such as `12 MB`. */
  readonly size: string;
  /** The size of the month before this one, when it has a partition. */
  readonly lastMonth: string | null;
  /** For how many months from now on there are partitions. */
  readonly monthsAhead: number;
}

const TRAIL = statement(
  '',
  `
with month as (
  select p.relid, pg_total_relation_size(p.relid) as bytes, to_date(substr(c.relname, 14), 'YYYY_MM') as month
    from pg_partition_tree('audit_events') p join pg_class c on c.oid = p.relid
   where p.isleaf and c.relname ~ '^audit_events_[0-9]{4}_[0-9]{2}$'
), now as (
  select date_trunc('month', clock_timestamp() at time zone 'UTC')::date as month
)
select pg_size_pretty((select sum(pg_total_relation_size(relid)) from pg_partition_tree('audit_events'))) as size,
       (select pg_size_pretty(bytes) from month where month.month = (now.month - interval '1 month')::date) as "lastMonth",
       (select count(*)::int from month where month.month > now.month) as "monthsAhead"
  from now`,
);

/** @throws when there is no trail */
export const findTrailFacts = (db: Database): Promise<TrailFacts> => queryRow(db, TRAIL());
