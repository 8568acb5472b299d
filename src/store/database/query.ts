import pg from 'pg';
import { LOCK_MS, STATEMENT_MS } from '../../rules/common/timeouts.ts';
import { begin, runAlone, runInTransaction, send } from './connection.ts';
import { connect, type Database, transaction, withConnection } from './database.ts';
import {
  batchStatement,
  type ComputedInputs,
  type Query,
  type SqlTemplate,
  statement,
  textOf,
} from './statement.ts';

export { send };

/** A statement as a function, which binds values and runs it. */
type Run<Values, Result> = (db: Database, values: Values) => Promise<Result>;

function tag<Values, Result>(name: string, resultOf: (result: pg.QueryResult) => Result) {
  return (...sql: SqlTemplate): Run<Values, Result> => {
    const bind = statement<Values>(name, textOf(sql));
    return async (db, values) => resultOf(await query(db, bind(values)));
  };
}

/**
 * Turns one SQL statement, see {@link statement}, into a function that returns its rows. The text is a tagged template:
 * ``findAll('user-list')`select …` ``. `Row` describes the select list, checked by the tests against the real database.
 */
export const findAll = <Values, Row extends object>(name: string) =>
  tag<Values, Row[]>(name, ({ rows }) => rows);

/** Like {@link findAll}, for a statement with one row or none. */
export const findOne = <Values, Row extends object>(name: string) =>
  tag<Values, Row | null>(name, ({ rows }) => rows[0] ?? null);

/** Like {@link findAll}, for a statement with exactly one row. */
export const findExactlyOne = <Values, Row extends object>(name: string) =>
  tag<Values, Row>(name, ({ rows }) => requireRow(rows[0] ?? null, name));

/** Like {@link findAll}, for a statement whose rows are irrelevant: returns how many it wrote or found. */
export const write = <Values>(name: string) => tag<Values, number>(name, ({ rowCount }) => rowCount ?? 0);

/** Like {@link findAll}, for a {@link batchStatement}: each request's row, null for none. */
export function findEach<Request, Row extends object>(name: string, computed?: ComputedInputs<Request>) {
  return (...sql: SqlTemplate): Run<readonly Request[], (Row | null)[]> => {
    const bind = batchStatement(name, textOf(sql), computed);
    return async (db, requests) => orderByRequest((await query(db, bind(requests))).rows, requests.length);
  };
}

/** Like {@link write}, for a {@link batchStatement}. */
export function writeEach<Request>(name: string, computed?: ComputedInputs<Request>) {
  return (...sql: SqlTemplate): Run<readonly Request[], number> => {
    const bind = batchStatement(name, textOf(sql), computed);
    return async (db, requests) => (await query(db, bind(requests))).rowCount ?? 0;
  };
}

/** The rows of a batch in request order, by their column `n`; null for a request without one. */
export function orderByRequest<Row extends { n: number }>(
  rows: readonly Row[],
  length: number,
): (Row | null)[] {
  const ordered: (Row | null)[] = Array.from({ length }, () => null);
  for (const row of rows) ordered[row.n - 1] = row;
  return ordered;
}

/** @throws {Error} without a row, if the statement must return one */
export function requireRow<Row>(row: Row | null, name: string): Row {
  if (row === null) throw new Error(`the statement ${name} left a row out`);
  return row;
}

const query = (db: Database, asked: Query): Promise<pg.QueryResult> =>
  runOnConnection(db, (connection, run) => run(connection, asked));

/** Gives `work` a connection, and the function that runs a statement there: within the transaction `db`, or alone. */
export function runOnConnection<Result>(
  db: Database,
  work: (connection: pg.PoolClient, run: typeof runAlone) => Promise<Result>,
): Promise<Result> {
  return db instanceof pg.Pool
    ? withConnection(db, (connection) => work(connection, runAlone))
    : work(db, runInTransaction);
}

/** Empty unless visible ASCII, like all registered texts: a letter that PostgreSQL refuses could fail a whole batch. */
export function visibleAsciiOrEmpty(text: string): string {
  return /^[\x21-\x7e]*$/.test(text) ? text : '';
}

/** Exceeds any migration; an operator waits for it and sees it. */
const MAX_RUN_MS = 6 * 60 * 60 * 1000;

/** Runs one or several statements within a transaction, without the time limit of requests. */
export async function executeLong(connection: pg.PoolClient, text: string): Promise<void> {
  await send(connection, { text, limitMs: MAX_RUN_MS });
}

/** Connections for answers that are waited for: there a statement is without a time limit only if it says so. */
export const STATEMENT_LIMITED_CONNECTIONS = new WeakSet<Database>();

/** For operators: the rows of a statement; 0 is no time limit. On a pool it is its own transaction. */
export async function queryLong<Row extends object>(
  db: Database,
  asked: Query,
  limitMs?: number,
): Promise<Row[]> {
  if (db instanceof pg.Pool)
    return transaction(db, (connection) => queryLong<Row>(connection, asked, limitMs));
  const most = limitMs ?? (STATEMENT_LIMITED_CONNECTIONS.has(db) ? STATEMENT_MS : 0);
  await send(db, `set local statement_timeout = ${most}`);
  const { text, values = [] } = asked;
  return (await send<Row>(db, { text, values, limitMs: most ? most + LOCK_MS : MAX_RUN_MS })).rows;
}

/** Like {@link findAll}, with the time limit of {@link queryLong}. */
export function findLong<Values, Row extends object>(name: string, limitMs?: number) {
  return (...sql: SqlTemplate): Run<Values, Row[]> => {
    const bind = statement<Values>(name, textOf(sql));
    return (db, values) => queryLong<Row>(db, bind(values), limitMs);
  };
}

const PAGE_ROWS = 500;

/**
 * Like {@link queryLong}, in pages, for lists larger than memory. A cursor reads and sorts each row once. Its open transaction
 * blocks vacuum and the dropping of partitions, so PostgreSQL ends it if the reader pauses for long.
 */
export async function* queryPages<Row extends object>(pool: pg.Pool, list: Query): AsyncGenerator<Row[]> {
  const connection = await connect(pool);
  const fetch = () => queryLong<Row>(connection, { name: '', text: `fetch ${PAGE_ROWS} from list` });
  let rows: Row[];
  let finished = false;
  try {
    await begin(connection);
    await send(connection, `set local idle_in_transaction_session_timeout = '10min'`);
    await queryLong(connection, { ...list, text: `declare list cursor for ${list.text}` });
    for (rows = await fetch(); rows.length === PAGE_ROWS; rows = await fetch()) yield rows;
    await send(connection, 'commit');
    finished = true;
  } finally {
    connection.release(!finished); // closing it ends the transaction, wherever the reader stopped
  }
  yield rows;
}

/** Waits for an advisory lock, within this transaction's statement timeout, and holds it until the end. */
export function lockForTransaction(connection: pg.PoolClient, lock: number): Promise<void> {
  return executeLong(connection, `select pg_advisory_xact_lock(${lock})`);
}
