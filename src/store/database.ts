import pg from 'pg';

/** A pool or one of its connections: every statement of the store runs on either. */
export type Database = pg.Pool | pg.PoolClient;

/** Where PostgreSQL is: a URL, or the embedded one's folder and user. */
export type ConnectionSettings =
  | { connectionString: string }
  | { host: string; port: number; user: string; database: string };

const POOL_SIZE = 10;
const CONNECT_TIMEOUT_MS = 5_000;
/** Far above what any statement here takes: what lasts longer waits for a lock that will not come. */
const STATEMENT_TIMEOUT_MS = 5_000;
/** When the database is frozen or cut off it can't end a statement itself. */
const ANSWER_TIMEOUT_MS = 6_000;

/** Opens the pool. It connects when first asked, and again by itself after the database was away. */
export function openDatabase(settings: ConnectionSettings, onError: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({
    ...settings,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'assent',
  });
  pool.on('error', onError); // an idle connection broke; the next query opens another
  return pool;
}

/** One SQL statement with the name under which PostgreSQL keeps its plan. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Runs a statement; `Row` says what its select list is, checked by the tests against the real database. */
export async function select<Row extends object>(
  db: Database,
  statement: Statement,
  values: unknown[],
): Promise<Row[]> {
  const { rows } = await db.query<Row>({ ...statement, values });
  return rows;
}

/** Like {@link select} for a statement that gives one row or none. */
export async function selectOne<Row extends object>(
  db: Database,
  statement: Statement,
  values: unknown[],
): Promise<Row | undefined> {
  return (await select<Row>(db, statement, values))[0];
}

/** Runs `work` in one transaction: all of it is written, or nothing. */
export async function transaction<Result>(
  pool: pg.Pool,
  work: (connection: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const connection = await pool.connect();
  try {
    await connection.query('begin');
    const result = await work(connection);
    await connection.query('commit');
    connection.release();
    return result;
  } catch (error) {
    connection.release(true); // closing the connection rolls back, whatever state it is in
    throw error;
  }
}

/** SQLSTATE classes that mean the database is away or not taking anybody: no caller's fault. */
const AWAY = /^(08|57P|53)/;
const NETWORK_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
]);

/** Whether `error` says that PostgreSQL could not be reached or the connection was lost on the way. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (AWAY.test(code) || NETWORK_ERRORS.has(code)) return true;
  return /Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error/i.test(
    error.message,
  );
}
