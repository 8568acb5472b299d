import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type pg from 'pg';
import { traitsOf } from '../database/connection.ts';
import type { Database } from '../database/database.ts';
import { standbyError } from '../database/errors.ts';
import { findAll, findExactlyOne } from '../database/query.ts';

const findState = findExactlyOne<void, { readOnly: boolean }>('health-tables')`
  select current_setting('transaction_read_only') = 'on' as "readOnly"
    from (select) one left join (select from clients limit 0) ours on true`;

/** @throws if the database is unreachable, lacks tables, or takes no writes */
export async function checkWritable(db: Database): Promise<void> {
  if ((await findState(db)).readOnly) throw standbyError();
}

/** The database and our connection, for `assent doctor`. */
export type DatabaseFacts = Awaited<ReturnType<typeof findDatabaseFacts>>;

/** `versionNumber`: 180004 for 18.4; `skewSeconds`: between the clocks here and there. */
type ServerFacts = Readonly<Record<'version' | 'encoding' | 'synchronousCommit' | 'role', string>> &
  Readonly<Record<'isStandby' | 'readOnly' | 'fsync' | 'fullPageWrites', boolean>> &
  Readonly<Record<'versionNumber' | 'skewSeconds', number>>;

const findServerFacts = findExactlyOne<{ now: number }, ServerFacts>('')`
  select current_setting('server_version_num')::int as "versionNumber",
         current_setting('server_version') as version,
         current_setting('server_encoding') as encoding,
         pg_is_in_recovery() as "isStandby",
         current_setting('transaction_read_only') = 'on' as "readOnly",
         current_setting('fsync') = 'on' as fsync,
         current_setting('full_page_writes') = 'on' as "fullPageWrites",
         current_setting('synchronous_commit') as "synchronousCommit",
         abs(extract(epoch from clock_timestamp()) - @now)::float8 as "skewSeconds",
         current_user as role`;

/** A finding if indexes were made with another version of the database's collation. */
export const findOtherCollation = findAll<void, Record<'text' | 'remedy', string>>('')`
  select format('indexes were made with version %s of the database''s collation, which is %s now', datcollversion, now) as text,
         format('run REINDEX DATABASE %1$I as the owner, and only then ALTER DATABASE %1$I REFRESH COLLATION VERSION', datname) as remedy
    from pg_database, pg_database_collation_actual_version(oid) as now
   where datname = current_database() and datcollversion <> now`;

/** `isLocal`: through a Unix socket, or on this machine. @throws if the database is unreachable */
export async function findDatabaseFacts(connection: pg.PoolClient) {
  const facts = await findServerFacts(connection, { now: Date.now() / 1000 });
  const { ownSession, keepsNames } = traitsOf(connection);
  const { ssl, connection: wire } = connection as unknown as { ssl: Ssl; connection: { stream: Socket } };
  const { stream } = wire;
  const tls = stream instanceof TLSSocket ? tlsOf(ssl) : 'none';
  const address = stream.remoteAddress ?? '';
  const isLocal = address === '' || /^(127\.|::1$|::ffff:127\.)/.test(address);
  return { ...facts, ownSession, keepsNames, isLocal, tls } as const;
}

type Ssl = boolean | { rejectUnauthorized?: boolean; checkServerIdentity?: unknown };

/** What TLS verifies, from the settings: a valid certificate now says nothing of the next connection. */
function tlsOf(ssl: Ssl) {
  if (typeof ssl === 'boolean') return 'verified';
  if (ssl.rejectUnauthorized === false) return 'unverified';
  return ssl.checkServerIdentity === undefined ? 'verified' : 'verified CA';
}
