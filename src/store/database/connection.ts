import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { LOCK_MS, STATEMENT_MS } from '../../rules/common/timeouts.ts';
import { type StatementFailure, statementEnded } from '../../signals/timings.ts';
import { failureOf } from './errors.ts';

// The settings of every statement, overriding those of the role, the database, the URL or a pooler. They are made after
// connecting: poolers refuse unknown start-up parameters, and a URL's `options` replace others.

const SETTINGS: Readonly<Record<string, string>> = {
  // Each statement has one good plan for all values; planning costs as much as execution.
  plan_cache_mode: 'force_generic_plan',
  // Compiling takes longer than any statement, and a generic plan's estimates may suggest it.
  jit: 'off',
  // The formats that our parsers and pg's arrays expect.
  bytea_output: 'hex',
  datestyle: 'ISO',
  extra_float_digits: '1',
  array_nulls: 'on',
  // A guarded update must see the writes of the transaction that it waited for.
  default_transaction_isolation: 'read committed',
  statement_timeout: String(STATEMENT_MS),
  lock_timeout: String(LOCK_MS),
};

/** The same for one transaction, behind a pooler. No value contains quotes. */
const BEGIN_WITH_SETTINGS = [
  'begin isolation level read committed',
  ...Object.entries(SETTINGS).map(([name, value]) => `set local ${name} = '${value}'`),
].join('; ');

interface ConnectionTraits {
  /** False behind a pooler, which may send each transaction to another session of PostgreSQL. */
  readonly ownSession: boolean;
  /** True if a prepared statement is found again by its name. */
  readonly keepsNames: boolean;
  /** Milliseconds by which PostgreSQL's clock is ahead of `performance.now()`; never too many. */
  clockAheadMs: number;
}

const traits = new WeakMap<pg.ClientBase, ConnectionTraits>();

/** A pooler is recognized by its process id: it differs from that of PostgreSQL's session. */
const OPENING = `
select pg_backend_pid() = $1 as "ownSession", current_setting('transaction_read_only') = 'off' as "takesWrites",
       (select count(set_config(name, value, false)) from unnest($2::text[], $3::text[]) as setting (name, value)
         where pg_backend_pid() = $1)`;

/** Detects the kind of a connection and applies its settings, before its first use. @returns `takesWrites`: it is no standby */
export async function prepareConnection(connection: pg.ClientBase): Promise<{ takesWrites: boolean }> {
  const { processID } = connection as pg.ClientBase & { processID: number };
  const settings = [Object.keys(SETTINGS), Object.values(SETTINGS)];
  const [opening, clockAheadMs] = await Promise.all([
    connection.query<{ ownSession: boolean; takesWrites: boolean }>(OPENING, [processID, ...settings]),
    measureClock(connection),
  ]);
  const { ownSession = false, takesWrites = false } = opening.rows[0] ?? {};
  const keepsNames = ownSession || (await translatesNames(connection));
  traits.set(connection, { ownSession, keepsNames, clockAheadMs });
  return { takesWrites };
}

/** The round trip only makes the difference smaller, never too large. */
async function measureClock(connection: pg.ClientBase): Promise<number> {
  // A whole number: the formats of times and fractions are not set yet.
  const { rows } = await connection.query<{ ms: string }>(
    'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms',
  );
  return Number(rows[0]?.ms) - performance.now();
}

/** PostgreSQL's clock may have been set. */
export async function compareClocks(connection: pg.ClientBase): Promise<void> {
  traitsOf(connection).clockAheadMs = await measureClock(connection);
}

/** True if a pooler keeps clients' prepared statements: it renames them, so that two clients' don't collide in one session. */
async function translatesNames(connection: pg.ClientBase): Promise<boolean> {
  const name = `assent-${randomUUID()}`;
  const text = `select '${name}'`;
  // A transaction stays in one session.
  await connection.query('begin');
  await connection.query({ name, text });
  const kept = await connection.query('select from pg_prepared_statements where name = $1', [name]);
  const translated = kept.rowCount === 0;
  if (!translated) await connection.query(`deallocate "${name}"`);
  await connection.query('rollback');
  return translated;
}

export function traitsOf(connection: pg.ClientBase): ConnectionTraits {
  const found = traits.get(connection);
  if (found === undefined) throw new Error('prepareConnection was not called for this connection');
  return found;
}

export async function begin(connection: pg.ClientBase): Promise<void> {
  await connection.query(traitsOf(connection).ownSession ? 'begin' : BEGIN_WITH_SETTINGS);
}

/** Runs a statement within a transaction begun by {@link begin}. */
export function runWithin<Row extends pg.QueryResultRow>(
  connection: pg.ClientBase,
  { name = '', ...query }: pg.QueryConfig,
): Promise<pg.QueryResult<Row>> {
  const config = traitsOf(connection).keepsNames && name ? { name, ...query } : query;
  const result = connection.query<Row>(config);
  return statementEnded.hasSubscribers ? timed(name, result) : result;
}

function timed<Result>(name: string, result: Promise<Result>): Promise<Result> {
  const since = performance.now();
  const report = (failure: StatementFailure | null) =>
    statementEnded.publish({ name, seconds: (performance.now() - since) / 1000, failure });
  result.then(
    () => report(null),
    (error: unknown) => report(failureOf(error)),
  );
  return result;
}

/** Runs a statement as its own transaction: behind a pooler pipelined, so that the settings apply in whichever session runs it. */
export async function runAlone<Row extends pg.QueryResultRow>(
  connection: pg.ClientBase,
  query: pg.QueryConfig,
): Promise<pg.QueryResult<Row>> {
  if (traitsOf(connection).ownSession) return runWithin(connection, query);
  const [, result] = await Promise.all([
    connection.query(BEGIN_WITH_SETTINGS),
    runWithin<Row>(connection, query),
    connection.query('commit'),
  ]);
  return result;
}

/** A time of `performance.now()` as a `timestamptz` of PostgreSQL's clock: perhaps a little early, never late. */
export function inDatabaseTime(connection: pg.ClientBase, moment: number): string {
  return new Date(traitsOf(connection).clockAheadMs + moment).toISOString();
}
