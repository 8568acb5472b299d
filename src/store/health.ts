import type pg from 'pg';
import { type Database, selectOne } from './database.ts';

/** @throws when the database is away, has not our tables, or takes no writes */
export async function checkTables(db: Database): Promise<void> {
  const row = await selectOne<{ readOnly: boolean }>(db, TABLES, []);
  if (row?.readOnly !== false) throw new Error('the database takes no writes');
}

const TABLES = {
  name: 'health-tables',
  text: `select current_setting('transaction_read_only') = 'on' as "readOnly"
           from (select) one left join (select from clients limit 0) ours on true`,
};

/** What `assent doctor` looks at. */
export interface DatabaseFacts {
  /** For example 180004 for 18.4. */
  readonly versionNumber: number;
  readonly version: string;
  /** By how many seconds the database's clock and this process's differ. */
  readonly skewSeconds: number;
}

const FACTS = {
  name: 'health-facts',
  text: `select current_setting('server_version_num')::int as "versionNumber",
                current_setting('server_version') as version,
                abs(extract(epoch from clock_timestamp()) - $1)::float8 as "skewSeconds"`,
};

/** @throws when the database is away */
export async function findDatabaseFacts(pool: pg.Pool): Promise<DatabaseFacts> {
  const facts = await selectOne<DatabaseFacts>(pool, FACTS, [Date.now() / 1000]);
  if (facts === undefined) throw new Error('PostgreSQL gave no row of facts about itself');
  return facts;
}
