import type pg from 'pg';
import { transaction } from '../store/database/database.ts';
import { findTrailFacts, ownsTables } from '../store/schema/auditPartitions.ts';
import { findExcessPrivileges } from '../store/schema/excessPrivileges.ts';
import { type DatabaseFacts, findDatabaseFacts } from '../store/schema/health.ts';
import { schemaState } from '../store/schema/schemaState.ts';
import { findDeviations } from '../store/schema/tablePrivileges.ts';
import { advice, type Finding, ok, type Verdict, wrong } from './finding.ts';

const MIN_POSTGRES = 150_000;
/** Above this, times in the log mislead; Assent itself goes by the database's clock alone. */
const TOLERABLE_SKEW_SECONDS = 5;
/** Rows of a month without a partition go to the default partition, and have to be moved later. */
const MIN_MONTHS_AHEAD = 3;

/** @throws when the database can't be reached */
export async function checkDatabase(pool: pg.Pool): Promise<Finding[]> {
  const facts = await transaction(pool, findDatabaseFacts);
  const findings: Finding[] = [{ check: 'database', ...ok('PostgreSQL answers') }];
  for (const [check, judge] of Object.entries(CHECKS)) {
    findings.push({ check, ...(await judge(facts, pool).catch(notSeen)) });
    if (check === 'schema' && findings.at(-1)?.level === 'error') break; // what follows looks at its tables
  }
  return findings;
}

/** A check that fails itself, such as for a table that the role can't read, is a finding, so that the others still run. */
function notSeen({ message }: Error): Verdict {
  return wrong(`this can't be looked at: ${message}`, 'run assent migrate --server-role for this role');
}

/** In the order of the report: of what the database and the connection say of themselves, then of the tables. */
const CHECKS: Readonly<Record<string, (facts: DatabaseFacts, pool: pg.Pool) => Promise<Verdict>>> = {
  version: async ({ version, versionNumber }) =>
    versionNumber >= MIN_POSTGRES
      ? ok(`PostgreSQL ${version}`)
      : wrong(`PostgreSQL ${version} is too old`, 'use PostgreSQL 15 or newer'),

  encoding: async ({ encoding }) =>
    encoding === 'UTF8'
      ? ok('the database is in UTF8')
      : wrong(`the database is in ${encoding}`, 'create one with encoding UTF8'),

  async writes({ isStandby, readOnly }) {
    if (isStandby) return wrong('this is a standby: it takes no writes', 'connect to the primary');
    const remedy = 'take default_transaction_read_only back, for the database and the role';
    return readOnly ? wrong('the database is set to read only', remedy) : ok('the database takes writes');
  },

  /** A committed change (a used code, a revoked token) must survive a crash. */
  async durability({ fsync, fullPageWrites, synchronousCommit }) {
    const off = [...(fsync ? [] : ['fsync']), ...(synchronousCommit === 'off' ? ['synchronous_commit'] : [])];
    if (off.length > 0)
      return wrong(`a crash loses what was answered: ${off.join(' and ')} off`, 'turn it on');
    if (fullPageWrites)
      return ok(`what is committed is on the disk (synchronous_commit ${synchronousCommit})`);
    const remedy = 'turn it on, unless the file system writes whole pages';
    return advice('full_page_writes is off: a crash may leave half-written pages', remedy);
  },

  isolation: async ({ isolation }) =>
    isolation === 'read committed'
      ? ok('our transactions are read committed, whatever the default')
      : wrong(`our transactions are ${isolation}`, 'find out what between here and PostgreSQL sets it'),

  async tls({ tls, isLocal }) {
    if (tls === 'verified') return ok('the connection is encrypted, and the other end is who it says');
    if (tls === 'verified CA') {
      return ok('the connection is encrypted, and the other end is known to the CA of sslrootcert');
    }
    if (isLocal) return ok('the connection stays on this machine');
    if (tls === 'none') {
      return advice('the connection is not encrypted', 'add sslmode=verify-full to DATABASE_URL');
    }
    const remedy = 'use sslmode=verify-full with sslrootcert';
    return advice('the connection is encrypted, but to whom is not verified', remedy);
  },

  async pooler({ pooler }) {
    if (pooler === 'none') return ok('the connection is to PostgreSQL itself, without a pooler');
    if (pooler === 'keeps names')
      return ok('the connection goes through a pooler that keeps prepared statements');
    return advice(
      'the connection goes through a pooler that keeps no prepared statements: each is planned anew',
      'use PgBouncer 1.21 or newer in transaction mode with max_prepared_statements, or none',
    );
  },

  async clock({ skewSeconds }) {
    const text = `the clocks here and in the database differ by ${skewSeconds.toFixed(1)} s`;
    return skewSeconds < TOLERABLE_SKEW_SECONDS ? ok(text) : advice(text, 'run NTP on both');
  },

  async schema(_facts, pool) {
    const { version, known, serves } = await schemaState(pool);
    const text = `schema version ${version}, this build's is ${known}`;
    if (!serves) return wrong(`${text}, which it does not serve`, 'run a newer build');
    if (version > known) return advice(`${text}, which it serves`, 'run the newer build again when you can');
    return version < known ? wrong(text, 'run assent migrate') : ok(text);
  },

  async role({ role }, pool) {
    const { lacking, beyond } = await findDeviations(pool);
    const remedy = `run assent migrate --server-role ${role} as the owner of the tables`;
    if (lacking.length > 0) return wrong(`the role ${role} lacks ${lacking.join(', ')}`, remedy);
    if (await ownsTables(pool)) {
      const way = 'let servers have a role of their own, see "Two roles" in docs/operating.md';
      return wrong(`the role ${role} may change tables`, way);
    }
    const powers = await findExcessPrivileges(pool);
    const more = [...powers.map(({ what }) => what), ...beyond.map((privilege) => `it has ${privilege}`)];
    return more.length > 0
      ? advice(`the role ${role} can do more than a server needs: ${more.join(', ')}`, remedy)
      : ok(`the role ${role} may read and write rows, and change no table`);
  },

  async trail(_facts, pool) {
    const { size, lastMonth, monthsAhead } = await findTrailFacts(pool);
    const growth = lastMonth === null ? '' : `, ${lastMonth} of it last month`;
    const text = `the audit trail takes ${size}${growth}, and is prepared for ${monthsAhead} months`;
    return monthsAhead >= MIN_MONTHS_AHEAD
      ? ok(text)
      : advice(text, 'run assent maintain as the owner of the tables, once a month');
  },
};
