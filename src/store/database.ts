import pg from 'pg';
import { type Address, parseAddresses } from './address.ts';
import {
  begin,
  compareClocks,
  inDatabaseTime,
  prepareConnection,
  runAlone,
  runWithin,
} from './connection.ts';
import { Hosts, StandbyError } from './hosts.ts';

/** A pool or one of its connections: every statement of the store runs on either. */
export type Database = pg.Pool | pg.PoolClient;

const POOL_SIZE = 10;
const CONNECT_TIMEOUT_MS = 5_000;
/** When the database is frozen or cut off it can't end a statement itself. */
const ANSWER_TIMEOUT_MS = 5_000;
/** A decision is waited for until its caller has been answered: it may be done. */
const DECISION_TIMEOUT_MS = 7_500;
/** How long a connection is used: so often its clock is compared anew, and a pooler's or balancer's choice is made again. */
const CONNECTION_LIFETIME_SECONDS = 300;

/** Bytes stay text, and times are read in a third of the time that pg's own parser takes. */
const TYPES = new pg.TypeOverrides();
TYPES.setTypeParser(pg.types.builtins.BYTEA, (digest) => digest);
TYPES.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (time) => new Date(time));

/**
 * Opens the pool. It connects when first asked, and again by itself after the database was away.
 *
 * @param where a `postgres://` URL, or the one PostgreSQL to connect to
 * @param password for an address that holds none
 * @throws {AddressError}
 */
export function openDatabase(
  where: string | Address,
  onError: (error: Error) => void,
  password: string | null = null,
): pg.Pool {
  const addresses = typeof where === 'string' ? parseAddresses(where) : [where];
  const hosts = new Hosts(password === null ? addresses : addresses.map((one) => ({ password, ...one })));
  const pool = new pg.Pool({
    Client: hosts.clientClass(),
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    maxLifetimeSeconds: CONNECTION_LIFETIME_SECONDS,
    query_timeout: ANSWER_TIMEOUT_MS,
    pipeline: true, // see `runAlone`: one round trip instead of three
    types: TYPES,
    keepAlive: true,
    application_name: 'assent',
    async onConnect(connection) {
      const { takesWrites } = await prepareConnection(connection);
      if (hosts.areSeveral && !takesWrites) throw new StandbyError();
    },
  });
  hostsOf.set(pool, hosts);
  pool.on('error', onError); // an idle connection broke; the next query opens another
  // A connection can break at any moment. The statement under way says so; without a listener the same news would end
  // the process.
  pool.on('connect', (connection) => connection.on('error', () => {}));
  return pool;
}

const hostsOf = new WeakMap<pg.Pool, Hosts>();

/** One SQL statement with the name under which PostgreSQL keeps its plan. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Runs a statement; `Row` says what its select list is, checked by the tests against the real database. */
export function query<Row extends object>(
  db: Database,
  statement: Statement,
  values: unknown[],
): Promise<Row[]> {
  return onConnection(db, async (connection, run) => {
    const { rows } = await run<Row>(connection, { ...statement, values });
    return rows;
  });
}

/** Runs a statement whose rows are of no interest. @returns how many rows it changed */
export function execute(db: Database, statement: Statement, values: unknown[]): Promise<number> {
  return onConnection(db, async (connection, run) => {
    const { rowCount } = await run(connection, { ...statement, values });
    return rowCount ?? 0;
  });
}

/** Gives `work` a connection, and how to run a statement there: within the transaction that `db` is, or alone. */
function onConnection<Result>(
  db: Database,
  work: (connection: pg.PoolClient, run: typeof runAlone) => Promise<Result>,
): Promise<Result> {
  return db instanceof pg.Pool
    ? withConnection(db, (connection) => work(connection, runAlone))
    : work(db, runWithin);
}

/** A statement came to PostgreSQL when its caller no longer waited for it, and did nothing. */
export class TooLateError extends Error {
  override readonly name = 'TooLateError';

  constructor() {
    super('the statement came to the database too late and did nothing');
  }
}

/**
 * Read when every row of these queries is locked: PostgreSQL has to count them first. A deciding statement that finds
 * itself `late` here does nothing; its commit is all that its caller still has to wait for.
 *
 * @param deadline the parameter that holds it, such as `$10`
 * @param held the queries that lock rows
 */
export const momentOf = (deadline: string, ...held: readonly string[]) => `moment as materialized (
  select clock_timestamp() >= ${deadline}::timestamptz as late
    from (select ${held.map((query) => `(select count(*) from ${query})`).join(' + ')} as rows) locked where rows >= 0
)`;

/**
 * Runs a statement that decides something, unless it comes too late: an answer that it can't be done now must stay true
 * whenever the statement gets through, or it would undo what was done since. Such a statement takes the deadline as its
 * last parameter, looks at the clock when it holds its locks, and says in its column `late` that it did nothing for it.
 *
 * @param decideBy of `performance.now()`
 */
export function decide<Row extends object>(
  db: Database,
  statement: Statement,
  values: unknown[],
  decideBy: number,
): Promise<(Row & { late: boolean })[]> {
  return onConnection(db, async (connection, run) => {
    const attempt = async () => {
      const deadline = inDatabaseTime(connection, decideBy);
      const query = { ...statement, values: [...values, deadline], query_timeout: DECISION_TIMEOUT_MS };
      return (await run<Row & { late: boolean }>(connection, query)).rows;
    };
    const rows = await attempt();
    if (!rows.some(({ late }) => late) || performance.now() >= decideBy) return rows;
    // In time by our clock, so PostgreSQL's was set since it was last compared.
    await compareClocks(connection);
    return attempt();
  });
}

/** Like {@link decide} for a statement that gives one row. @throws {TooLateError} */
export async function decideOne<Row extends object>(
  db: Database,
  statement: Statement,
  values: unknown[],
  decideBy: number,
): Promise<Row> {
  const [row] = await decide<Row>(db, statement, values, decideBy);
  if (row === undefined) throw new Error(`the statement ${statement.name} gave no row`);
  if (row.late) throw new TooLateError();
  return row;
}

/** Like {@link query} for a statement that gives one row or none. */
export async function queryOne<Row extends object>(
  db: Database,
  statement: Statement,
  values: unknown[],
): Promise<Row | undefined> {
  return (await query<Row>(db, statement, values))[0];
}

/**
 * Runs a statement that answers many questions at once; its column `n` says which row answers which, from 1 on.
 *
 * @returns for each question its row, null when it has none
 */
export async function queryBatch<Row extends object>(
  db: Database,
  statement: Statement,
  questions: readonly unknown[],
  values: unknown[],
): Promise<(Row | null)[]> {
  return inOrder(questions, await query<Row & { n: number }>(db, statement, values));
}

/** Rows by the questions that they answer. */
export function inOrder<Row extends { n: number }>(
  questions: readonly unknown[],
  rows: readonly Row[],
): (Row | null)[] {
  const answers: (Row | null)[] = questions.map(() => null);
  for (const row of rows) answers[row.n - 1] = row;
  return answers;
}

/**
 * What is registered is visible ASCII, so a text that isn't matches nothing. It goes out as no text at all: no
 * caller can make the statement of a whole batch fail by what it sends.
 */
export function asciiOnly(text: string): string {
  return /^[\x21-\x7e]*$/.test(text) ? text : '';
}

/** Runs `work` on one connection of the pool, which is closed when that fails. */
export async function withConnection<Result>(
  pool: pg.Pool,
  work: (connection: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const connection = await (hostsOf.get(pool)?.connect(pool) ?? pool.connect());
  let finished = false;
  try {
    const result = await work(connection);
    finished = true;
    return result;
  } finally {
    connection.release(!finished);
  }
}

/** Runs `work` in one transaction: all of it is written, or nothing. */
export function transaction<Result>(
  pool: pg.Pool,
  work: (connection: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  // After an error the connection is closed, which rolls back whatever state it is in.
  return withConnection(pool, async (connection) => {
    await begin(connection);
    const result = await work(connection);
    await connection.query('commit');
    return result;
  });
}

/** Far more than any migration takes: somebody waits for it and sees it. */
const MAX_RUN_MS = 6 * 60 * 60 * 1000;

/** Runs one or several statements within a transaction, for longer than any request would wait. */
export async function runLong(connection: pg.PoolClient, text: string): Promise<void> {
  await connection.query({ text, query_timeout: MAX_RUN_MS } as pg.QueryConfig);
}

/** Like {@link query}, within a transaction, for longer than any request would wait: an operator does. */
export async function queryLong<Row extends object>(
  connection: pg.PoolClient,
  { text }: Statement,
  values: unknown[],
): Promise<Row[]> {
  await connection.query('set local statement_timeout = 0');
  const query = { text, values, query_timeout: MAX_RUN_MS };
  return (await connection.query<Row>(query as pg.QueryConfig)).rows;
}

/** Waits until nobody else holds this lock, and holds it until the end of the transaction. */
export async function lockForTransaction(connection: pg.PoolClient, lock: number): Promise<void> {
  await connection.query('select pg_advisory_xact_lock($1)', [lock]);
}
