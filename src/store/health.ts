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
