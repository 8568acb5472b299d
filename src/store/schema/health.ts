import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type pg from 'pg';
import { traitsOf } from '../database/connection.ts';
import type { Database } from '../database/database.ts';
import { StandbyError } from '../database/errors.ts';
import { queryRow } from '../database/query.ts';
import { statement } from '../database/statement.ts';

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

/** What is to be known of the database and of our connection to it, for `assent doctor`. */
export type DatabaseFacts = ServerFacts & ConnectionFacts;

/** What PostgreSQL says of itself and of the database. */
interface ServerFacts {
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

/** What the connection turned out to be. */
interface ConnectionFacts {
  readonly pooler: 'none' | 'keeps names' | 'keeps no names';
  /** Whether it goes through a Unix socket or stays on this machine. */
  readonly isLocal: boolean;
  /** What TLS verifies: nothing, the CA, or the CA and the name. */
  readonly tls: 'none' | 'unverified' | 'verified CA' | 'verified';
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
export async function findDatabaseFacts(connection: pg.PoolClient): Promise<DatabaseFacts> {
  const facts = await queryRow<ServerFacts>(connection, FACTS({ now: Date.now() / 1000 }));
  return { ...facts, ...inspectConnection(connection) };
}

function inspectConnection(connection: pg.PoolClient): ConnectionFacts {
  const { ownSession, keepsNames } = traitsOf(connection);
  const { ssl, connection: wire } = connection as unknown as { ssl: Ssl; connection: { stream: Socket } };
  const { stream } = wire;
  const tls = stream instanceof TLSSocket ? tlsOf(ssl) : 'none';
  const address = stream.remoteAddress ?? '';
  const isLocal = address === '' || /^(127\.|::1$|::ffff:127\.)/.test(address);
  const pooler = ownSession ? 'none' : keepsNames ? 'keeps names' : 'keeps no names';
  return { pooler, isLocal, tls };
}

type Ssl = boolean | { rejectUnauthorized?: boolean; checkServerIdentity?: unknown };

/** By what is demanded: a good certificate now says nothing about the next connection. */
function tlsOf(ssl: Ssl): ConnectionFacts['tls'] {
  if (typeof ssl === 'boolean') return 'verified';
  if (ssl.rejectUnauthorized === false) return 'unverified';
  return ssl.checkServerIdentity === undefined ? 'verified' : 'verified CA';
}
