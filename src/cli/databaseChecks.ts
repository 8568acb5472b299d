import type pg from 'pg';
import { ownsTables } from '../store/auditPartitions.ts';
import { type ConnectionFacts, inspectConnection } from '../store/connectionFacts.ts';
import { transaction } from '../store/database.ts';
import { type DatabaseFacts, findDatabaseFacts, findTrailFacts } from '../store/health.ts';
import { listMigrations, schemaVersion } from '../store/migrate.ts';
import { findDeviations, findExcessPrivileges } from '../store/serverRole.ts';
import { advice, type Finding, ok, wrong } from './finding.ts';

const MIN_POSTGRES = 150_000;
/** Above this, times in the log mislead; Assent itself goes by the database's clock alone. */
const TOLERABLE_SKEW_SECONDS = 5;
/** Rows of a month without a partition go to the default partition, and have to be moved later. */
const MIN_MONTHS_AHEAD = 2;

/** @throws when the database can't be reached */
export async function checkDatabase(pool: pg.Pool): Promise<Finding[]> {
  const { facts, connection } = await transaction(pool, async (db) => ({
    facts: await findDatabaseFacts(db),
    connection: inspectConnection(db),
  }));
  return [
    ok('database', 'PostgreSQL answers'),
    checkVersion(facts),
    checkEncoding(facts),
    checkWrites(facts),
    checkDurability(facts),
    checkIsolation(facts),
    checkTls(connection),
    checkPooler(connection),
    checkClock(facts),
    await attempt('schema', () => checkSchema(pool)),
    await attempt('role', () => checkRole(pool, facts)),
    await attempt('trail', () => checkTrail(pool)),
  ];
}

/** A check that fails itself is a finding, so that the others still run. */
async function attempt(check: string, look: () => Promise<Finding>): Promise<Finding> {
  return look().catch((error: Error) =>
    wrong(
      check,
      `this can't be looked at: ${error.message}`,
      'run assent migrate --server-role for this role',
    ),
  );
}

function checkVersion({ version, versionNumber }: DatabaseFacts): Finding {
  return versionNumber >= MIN_POSTGRES
    ? ok('version', `PostgreSQL ${version}`)
    : wrong('version', `PostgreSQL ${version} is too old`, 'use PostgreSQL 15 or newer');
}

function checkEncoding({ encoding }: DatabaseFacts): Finding {
  return encoding === 'UTF8'
    ? ok('encoding', 'the database is in UTF8')
    : wrong('encoding', `the database is in ${encoding}`, 'create one with encoding UTF8');
}

function checkWrites({ isStandby, readOnly }: DatabaseFacts): Finding {
  if (isStandby) {
    return wrong('writes', 'this is a standby: it takes no writes', 'connect to the primary');
  }
  return readOnly
    ? wrong(
        'writes',
        'the database is set to read only',
        'take default_transaction_read_only back, for the database and the role',
      )
    : ok('writes', 'the database takes writes');
}

/** A committed change (a used code, a revoked token) must survive a crash. */
function checkDurability({ fsync, fullPageWrites, synchronousCommit }: DatabaseFacts): Finding {
  const off = [...(fsync ? [] : ['fsync']), ...(synchronousCommit === 'off' ? ['synchronous_commit'] : [])];
  if (off.length > 0) {
    return wrong('durability', `a crash loses what was answered: ${off.join(' and ')} off`, 'turn it on');
  }
  return fullPageWrites
    ? ok('durability', `what is committed is on the disk (synchronous_commit ${synchronousCommit})`)
    : advice(
        'durability',
        'full_page_writes is off: a crash may leave half-written pages',
        'turn it on, unless the file system writes whole pages',
      );
}

function checkIsolation({ isolation }: DatabaseFacts): Finding {
  return isolation === 'read committed'
    ? ok('isolation', 'our transactions are read committed, whatever the default')
    : wrong(
        'isolation',
        `our transactions are ${isolation}`,
        'find out what between here and PostgreSQL sets it',
      );
}

function checkTls({ tls, isLocal }: ConnectionFacts): Finding {
  if (tls === 'verified') return ok('tls', 'the connection is encrypted, and the other end is who it says');
  if (tls === 'verified CA') {
    return ok('tls', 'the connection is encrypted, and the other end is known to the CA of sslrootcert');
  }
  if (isLocal) return ok('tls', 'the connection stays on this machine');
  return tls === 'none'
    ? advice('tls', 'the connection is not encrypted', 'add sslmode=verify-full to DATABASE_URL')
    : advice(
        'tls',
        'the connection is encrypted, but to whom is not verified',
        'use sslmode=verify-full with sslrootcert',
      );
}

function checkPooler({ pooler }: ConnectionFacts): Finding {
  if (pooler === 'none') return ok('pooler', 'the connection is to PostgreSQL itself, without a pooler');
  return pooler === 'keeps names'
    ? ok('pooler', 'the connection goes through a pooler that keeps prepared statements')
    : advice(
        'pooler',
        'the connection goes through a pooler that keeps no prepared statements: each is planned anew',
        'use PgBouncer 1.21 or newer in transaction mode with max_prepared_statements, or none',
      );
}

function checkClock({ skewSeconds }: DatabaseFacts): Finding {
  const text = `the clocks here and in the database differ by ${skewSeconds.toFixed(1)} s`;
  return skewSeconds < TOLERABLE_SKEW_SECONDS ? ok('clock', text) : advice('clock', text, 'run NTP on both');
}

async function checkSchema(pool: pg.Pool): Promise<Finding> {
  const [version, known] = [await schemaVersion(pool), (await listMigrations()).length];
  const text = `schema version ${version}, this build's is ${known}`;
  if (version > known) return wrong('schema', text, 'run a newer build');
  return version < known ? wrong('schema', text, 'run assent migrate') : ok('schema', text);
}

async function checkRole(pool: pg.Pool, { role }: DatabaseFacts): Promise<Finding> {
  const { lacking, beyond } = await findDeviations(pool);
  const remedy = `run assent migrate --server-role ${role} as the owner of the tables`;
  if (lacking.length > 0) return wrong('role', `the role ${role} lacks ${lacking.join(', ')}`, remedy);
  if (await ownsTables(pool)) {
    return advice('role', `the role ${role} may change tables`, 'see "Two roles" in docs/operating.md');
  }
  const powers = await findExcessPrivileges(pool);
  const more = [...powers.map(({ what }) => what), ...beyond.map((privilege) => `it has ${privilege}`)];
  return more.length > 0
    ? advice('role', `the role ${role} can do more than a server needs: ${more.join(', ')}`, remedy)
    : ok('role', `the role ${role} may read and write rows, and change no table`);
}

async function checkTrail(pool: pg.Pool): Promise<Finding> {
  const { size, lastMonth, monthsAhead } = await findTrailFacts(pool);
  const growth = lastMonth === null ? '' : `, ${lastMonth} of it last month`;
  const text = `the audit trail takes ${size}${growth}, and is prepared for ${monthsAhead} months`;
  return monthsAhead >= MIN_MONTHS_AHEAD
    ? ok('trail', text)
    : advice('trail', text, 'run assent migrate as the owner of the tables');
}
