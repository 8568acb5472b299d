import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { DATABASE_RESPONSE_TIMEOUT_MS, LOCK_MS, STATEMENT_MS } from '../../rules/common/timeouts.ts';
import { type StatementFailure, statementChannel } from '../../signals/timings.ts';
import { failureOf } from './errors.ts';

// The settings of every statement, overriding those of the role, the database, the URL or a pooler. They are made after
// connecting: poolers refuse unknown start-up parameters, and a URL's `options` replace others.

const SETTINGS: Readonly<Record<string, string>> = {
  // Each statement has one good plan for all values; planning costs as much as execution.
  plan_cache_mode: 'force_generic_plan',
  // Compiling takes longer than any statement, and a generic plan's estimates may suggest it.
  jit: 'off',
  // A backslash in our texts is one, and a table has the same name in every answer.
  standard_conforming_strings: 'on',
  quote_all_identifiers: 'off',
  // The formats that our parsers and pg's arrays expect.
  bytea_output: 'hex',
  datestyle: 'ISO',
  timezone: 'UTC',
  extra_float_digits: '1',
  array_nulls: 'on',
  // A guarded update must see the writes of the transaction that it waited for.
  default_transaction_isolation: 'read committed',
  statement_timeout: String(STATEMENT_MS),
  lock_timeout: String(LOCK_MS),
  // The pool closes them.
  idle_session_timeout: '0',
  // An error ends its statement, not the session.
  exit_on_error: 'off',
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

/** The limit is {@link DATABASE_RESPONSE_TIMEOUT_MS} unless given. */
type Statement = pg.QueryConfig & { readonly limitMs?: number };

/**
 * Sends a statement; all of the store's go through here. Late ones reject, and their connection is closed, as others would wait
 * behind them. pg could do both, but its promise and its `query_timeout` assign a function to a property. V8 takes such a function
 * for a method and allocates it among old objects. There it would keep the statement's rows until the next full collection
 * (`bench/EXPERIMENTS.md`).
 */
export function send<Row extends pg.QueryResultRow>(
  connection: pg.ClientBase,
  statement: string | Statement,
): Promise<pg.QueryResult<Row>> {
  const { limitMs = DATABASE_RESPONSE_TIMEOUT_MS } = typeof statement === 'string' ? {} : statement;
  return new Promise<pg.QueryResult<Row>>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`PostgreSQL did not answer within ${limitMs} ms`));
      (connection as pg.Client).connection.stream.destroy();
    }, limitMs);
    connection.query<Row>(statement, (error: Error | null, result) => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve(result);
    });
  }).catch((error: Error) => {
    Error.captureStackTrace(error); // leads to our code, not to pg's parser
    throw error;
  });
}

/** Detects the kind of a connection and applies its settings, before its first use. @returns `takesWrites`: it is no standby */
export async function prepareConnection(connection: pg.ClientBase): Promise<{ takesWrites: boolean }> {
  const { processID } = connection as pg.ClientBase & { processID: number };
  const values = [processID, Object.keys(SETTINGS), Object.values(SETTINGS)];
  const [opening, clockAheadMs] = await Promise.all([
    send<{ ownSession: boolean; takesWrites: boolean }>(connection, { text: OPENING, values }),
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
  const text = 'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms';
  const { rows } = await send<{ ms: string }>(connection, text);
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
  await send(connection, 'begin');
  await send(connection, { name, text });
  const kept = await send(connection, `select from pg_prepared_statements where name = '${name}'`);
  const translated = kept.rowCount === 0;
  if (!translated) await send(connection, `deallocate "${name}"`);
  await send(connection, 'rollback');
  return translated;
}

export function traitsOf(connection: pg.ClientBase): ConnectionTraits {
  const found = traits.get(connection);
  if (found === undefined) throw new Error('prepareConnection was not called for this connection');
  return found;
}

export async function begin(connection: pg.ClientBase): Promise<void> {
  await send(connection, traitsOf(connection).ownSession ? 'begin' : BEGIN_WITH_SETTINGS);
}

/** Runs a statement within a transaction begun by {@link begin}. */
export function runInTransaction<Row extends pg.QueryResultRow>(
  connection: pg.ClientBase,
  { name = '', ...query }: Statement,
): Promise<pg.QueryResult<Row>> {
  const config = traitsOf(connection).keepsNames && name ? { name, ...query } : query;
  const since = performance.now();
  const report = (failure: StatementFailure | null) =>
    statementChannel.publish({ name, seconds: (performance.now() - since) / 1000, failure });
  return send<Row>(connection, config).then(
    (result) => {
      report(null);
      return result;
    },
    (error: unknown) => {
      report(failureOf(error));
      throw error;
    },
  );
}

/** Runs a statement as its own transaction: behind a pooler pipelined, so that the settings apply in whichever session runs it. */
export async function runAlone<Row extends pg.QueryResultRow>(
  connection: pg.ClientBase,
  query: Statement,
): Promise<pg.QueryResult<Row>> {
  if (traitsOf(connection).ownSession) return runInTransaction(connection, query);
  const { limitMs = DATABASE_RESPONSE_TIMEOUT_MS } = query;
  const [, result] = await Promise.all([
    send(connection, { text: BEGIN_WITH_SETTINGS, limitMs }),
    runInTransaction<Row>(connection, query),
    send(connection, { text: 'commit', limitMs }),
  ]);
  return result;
}

/** A time of `performance.now()` as a `timestamptz` of PostgreSQL's clock: perhaps a little early, never late. */
export function inDatabaseTime(connection: pg.ClientBase, moment: number): string {
  return new Date(traitsOf(connection).clockAheadMs + moment).toISOString();
}
