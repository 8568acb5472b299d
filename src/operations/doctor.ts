import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import type { FileOperators } from '../rules/account/operatorsFile.ts';
import { redirectUriDoubt } from '../rules/request/redirectUri.ts';
import { countForeignHashes } from '../store/account/passwords.ts';
import { findClients } from '../store/common/clients.ts';
import { findRefusals } from '../store/common/refusals.ts';
import { hostsByPool, transaction } from '../store/database/database.ts';
import { cursorAge } from '../store/operate/auditTrail.ts';
import { findNotifyCursors, TRAIL } from '../store/operate/notifyCursors.ts';
import { findOperators } from '../store/operate/operators.ts';
import { findTrailFacts, MIN_MONTHS_AHEAD, ownsTables } from '../store/schema/auditPartitions.ts';
import { type DatabaseFacts, findDatabaseFacts, findOtherCollation } from '../store/schema/health.ts';
import { type Finding, findBroken, type Verdict, verdictOnUnread } from '../store/schema/invariants.ts';
import { schemaState } from '../store/schema/schemaState.ts';
import { findDeviations, findExcessPrivileges, findGrantees } from '../store/schema/serverRole.ts';
import { FORWARDED_FOR_REFERENCE } from '../watch/refusals.ts';

export const ok = (text: string): Verdict => ({ level: 'ok', text, remedy: null });
export const advice = (text: string, remedy: string): Verdict => ({ level: 'advice', text, remedy });
export const wrong = (text: string, remedy: string): Verdict => ({ level: 'error', text, remedy });

export const findingsOf = (check: string, verdicts: readonly Verdict[]): Finding[] =>
  verdicts.map((verdict) => ({ check, ...verdict }));

/** Checks the database as a server sees it. @param references of two refused requests, one with a forged address */
export async function checkDatabase(
  pool: pg.Pool,
  references: readonly string[] = [],
  operators?: FileOperators,
): Promise<Finding[]> {
  const facts = { ...(await transaction(pool, findDatabaseFacts)), references, operators, pool };
  return [...findingsOf('database', [ok('PostgreSQL answers')]), ...(await runChecks(facts))];
}

/** Checks the schema and all rows: reads whole tables while servers run. @param patience seconds, of each statement */
export async function checkInvariants(pool: pg.Pool, patience: number): Promise<Finding[]> {
  const { version, known, text, remedy } = await schemaState(pool);
  if (version !== known) return findingsOf('schema', [wrong(text, remedy)]);
  const privileges = await judgePrivileges(pool).catch((error) => [verdictOnUnread(error)]);
  return [...findingsOf('privileges', privileges), ...(await findBroken(pool, patience))];
}

/** A check that fails, such as on an unreadable table, is a finding: the others still run. */
async function runChecks(facts: Facts): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [check, judge] of Object.entries(OF_DATABASE)) {
    const verdicts = await judge(facts).catch(({ message }: Error) =>
      wrong(`this can't be checked: ${message}`, 'run assent migrate --server-role for this role'),
    );
    findings.push(...findingsOf(check, [verdicts].flat()));
    if (check === 'schema' && findings.at(-1)?.level === 'error') break; // later checks read its tables
  }
  return findings;
}

type Facts = DatabaseFacts & {
  readonly references: readonly string[];
  readonly operators: FileOperators | undefined;
  readonly pool: pg.Pool;
};

/** Above this, log times mislead; Assent itself uses only the database's clock. */
const TOLERABLE_SKEW_SECONDS = 5;
const HOUR_MS = 3_600_000;
const TOKEN_ENDS_MS = 14 * 24 * HOUR_MS;

/** In the order of the report: first the database and the connection, then the tables. */
const OF_DATABASE: Readonly<Record<string, (facts: Facts) => Promise<Verdict | Verdict[]>>> = {
  version: async ({ version, versionNumber }) =>
    versionNumber >= 150_000
      ? ok(`PostgreSQL ${version}`)
      : wrong(`PostgreSQL ${version} is too old`, 'use PostgreSQL 15 or newer'),

  encoding: async ({ encoding }) =>
    encoding === 'UTF8'
      ? ok('the database has the encoding UTF8')
      : wrong(`the database has the encoding ${encoding}`, 'create one with encoding UTF8'),

  collation: async ({ pool }) =>
    (await findOtherCollation(pool)).map(({ text, remedy }) => advice(text, remedy)),

  async writes({ isStandby, readOnly }) {
    if (isStandby) return wrong('this is a standby, which accepts no writes', 'connect to the primary');
    const remedy = 'reset default_transaction_read_only for the database and the role';
    return readOnly ? wrong('the database is read-only', remedy) : ok('the database accepts writes');
  },

  /** A committed change (a used code, a revoked token) must survive a crash. */
  async durability({ fsync, fullPageWrites, synchronousCommit }) {
    const off = [...(fsync ? [] : ['fsync']), ...(synchronousCommit === 'off' ? ['synchronous_commit'] : [])];
    if (off.length > 0)
      return wrong(`with ${off.join(' and ')} off, a crash can lose committed data`, 'turn it on');
    if (fullPageWrites) return ok(`committed data is on disk (synchronous_commit ${synchronousCommit})`);
    const remedy = 'turn it on, unless the file system writes whole pages';
    return advice('full_page_writes is off, so a crash may leave half-written pages', remedy);
  },

  async tls({ tls, isLocal }) {
    if (tls === 'verified') return ok('the connection is encrypted and verified (certificate and name)');
    if (tls === 'verified CA')
      return ok('the connection is encrypted, with a certificate verified by the CA of sslrootcert');
    if (isLocal) return ok('the connection stays on this machine');
    if (tls === 'none')
      return advice('the connection is not encrypted', 'add sslmode=verify-full to DATABASE_URL');
    const remedy = 'use sslmode=verify-full with sslrootcert';
    return advice('the connection is encrypted, but the server is not verified', remedy);
  },

  async pooler({ ownSession, keepsNames }) {
    if (ownSession) return ok('the connection is direct, without a pooler');
    if (keepsNames) return ok('the connection goes through a pooler that keeps prepared statements');
    return advice(
      'the connection goes through a pooler without prepared statements, so each statement is planned again',
      'use PgBouncer 1.21 or newer in transaction mode with max_prepared_statements, or no pooler',
    );
  },

  async hosts({ pool }) {
    const text = 'with several hosts, a former primary may still respond for 3 seconds after a failover';
    const remedy = 'use a watchdog, or better HAProxy, which asks Patroni (test/ha/README.md)';
    return hostsByPool.get(pool)?.hosts.length === 1 ? [] : advice(text, remedy);
  },

  async clock({ skewSeconds }) {
    const text = `the clocks here and in the database differ by ${skewSeconds.toFixed(1)} s`;
    return skewSeconds < TOLERABLE_SKEW_SECONDS ? ok(text) : advice(text, 'run NTP on both');
  },

  async schema({ pool }) {
    const { version, known, serves, text, remedy } = await schemaState(pool);
    if (version < known || !serves) return wrong(text, remedy);
    if (version === known) return ok(text);
    return advice(`${text}; this build supports the newer one`, 'run the newer build again when you can');
  },

  async role({ role, pool }) {
    const { lacking, beyond } = await findDeviations(pool);
    const remedy = `run assent migrate --server-role ${role} as the owner of the tables`;
    if (lacking.length > 0) return wrong(`the role ${role} lacks ${lacking.join(', ')}`, remedy);
    if (await ownsTables(pool)) {
      const way = 'give the servers a separate role, see docs/operate/database.md#two-roles';
      return wrong(`the role ${role} may change tables`, way);
    }
    const powers = await findExcessPrivileges(pool, { role: null });
    const more = [...powers.map(({ what }) => what), ...beyond.map((privilege) => `it has ${privilege}`)];
    return more.length > 0
      ? advice(`the role ${role} has more privileges than a server needs: ${more.join(', ')}`, remedy)
      : ok(`the role ${role} may read and write rows, but not change tables`);
  },

  async trail({ pool }) {
    const { size, lastMonth, monthsAhead } = await findTrailFacts(pool);
    const growth = lastMonth === null ? '' : `, ${lastMonth} of it last month`;
    const text = `the audit trail has ${size}${growth}, and partitions for ${monthsAhead} months ahead`;
    return monthsAhead >= MIN_MONTHS_AHEAD
      ? ok(text)
      : advice(text, 'run assent maintain as the owner of the tables, once a month');
  },

  async notify({ pool }) {
    const cursors = await findNotifyCursors(pool);
    const shared = cursors.find(({ endpoint }) => endpoint === TRAIL);
    const late = shared === undefined ? [] : judgeLateness(cursorAge(shared.cursor));
    const failing = cursors.filter(({ failures }) => failures > 0);
    const behind = failing.map(({ endpoint, failures, lastError, isPaused }) => {
      const text = `${endpoint} failed to take ${failures} webhook${failures === 1 ? '' : 's'} in a row: ${lastError}`;
      const remedy = 'mend it, then assent notify resume; see docs/operate/notify.md';
      return isPaused ? wrong(`${text}; it is paused`, remedy) : advice(text, remedy);
    });
    return [...late, ...behind];
  },

  async redirects({ pool }) {
    const doubtful = (await findClients(pool)).filter(({ redirectUri }) => redirectUriDoubt(redirectUri));
    const text = `${doubtful.length} application${doubtful.length === 1 ? ' has' : 's have'} an unsafe redirect URI, such as one without https`;
    if (doubtful.length === 0) return ok(text);
    const some = doubtful.slice(0, 5).map(({ clientId }) => clientId);
    return advice(`${text}; for example ${some.join(', ')}`, 'assent client update ID --redirect-uri URI');
  },

  async proxy({ references, pool }) {
    const [plain, forged] = await Promise.all(references.map((reference) => findRefusal(pool, reference)));
    if (references.length > 0 && !plain)
      return advice(
        'the database has no trace of a request that the server at BASE_URL refused',
        'give doctor and that server one DATABASE_URL, and let the proxy pass X-Request-Id',
      );
    if (plain?.network !== forged?.network) {
      const text = 'the server believes a forged X-Forwarded-For, so passwords can be guessed without limit';
      return wrong(
        text,
        'let the proxy replace it, and TRUST_PROXY name only that proxy, see docs/operate/proxy.md#duties',
      );
    }
    const [noted] = await findRefusals(pool, { reference: FORWARDED_FOR_REFERENCE, clientId: null });
    if (noted === undefined || noted.at.getTime() < Date.now() - HOUR_MS) return [];
    return advice(
      noted.rule,
      'let the proxy set it and TRUST_PROXY name the proxy, see docs/operate/proxy.md#duties',
    );
  },

  async operators({ pool, operators }) {
    const soon = Date.now() + TOKEN_ENDS_MS;
    const inTable = (await findOperators(pool)).filter(({ retiredAt }) => !retiredAt);
    return [...inTable, ...new Set(operators?.values())].flatMap(({ name, expiresAt }) => {
      if (expiresAt === null || +expiresAt >= soon) return [];
      const text = `the token of the operator ${name} ends at ${expiresAt.toISOString()}`;
      return advice(text, 'give its program another: docs/operate/api.md#operators-and-tokens');
    });
  },

  async passwords({ pool }) {
    return (await countForeignHashes(pool)).map(({ form, count }) => {
      const passwords = `${count.toLocaleString('en')} password${count === 1 ? ' has' : 's have'}`;
      if (form !== null) return ok(`${passwords} a hash of an earlier service (${form})`);
      return advice(`${passwords} a hash in an unknown form`, 'set new ones: assent user set-password');
    });
  },
};

/** `assent notify` moves its cursor each minute, also without events. */
const MAX_NOTIFY_LAG_SECONDS = 300;

function judgeLateness({ idle, lag }: ReturnType<typeof cursorAge>): Verdict[] {
  const minutes = (seconds: number) => `${Math.round(seconds / 60)} minutes`;
  if (idle > MAX_NOTIFY_LAG_SECONDS)
    return [
      wrong(
        `assent notify has not run for ${minutes(idle)}`,
        'start it; see docs/operate/notify.md#watch-it',
      ),
    ];
  if (lag < MAX_NOTIFY_LAG_SECONDS) return [];
  const remedy = 'end it: select * from pg_stat_activity where backend_xid is not null order by xact_start';
  return [wrong(`an open transaction holds back webhooks for ${minutes(lag)}`, remedy)];
}

/** Servers write refusals after a second. */
async function findRefusal(pool: pg.Pool, reference: string) {
  for (let tries = 0; tries < 20; tries++) {
    const [refusal] = await findRefusals(pool, { reference, clientId: null });
    if (refusal) return refusal;
    await setTimeout(200);
  }
  return undefined;
}

/** The operator may let a role read more than a server needs. */
async function judgePrivileges(pool: pg.Pool): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const { role } of await findGrantees(pool)) {
    if (role === 'public')
      verdicts.push(wrong('every role has privileges on Assent’s tables', 'revoke all from public'));
    const { beyond } = await findDeviations(pool, role);
    const text = `the role ${role} has more privileges than a server needs: ${beyond.join(', ')}`;
    const onlyReads = beyond.every((privilege) => privilege.startsWith('SELECT'));
    if (beyond.length > 0) verdicts.push((onlyReads ? advice : wrong)(text, 'revoke it, as the owner'));
  }
  return verdicts.length > 0 ? verdicts : [ok('no role has more privileges than a server')];
}
