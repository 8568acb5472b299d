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
/** Locks here are held for one statement and its commit: so long only if somebody holds one by hand. */
const LOCK_TIMEOUT_MS = 3_000;
/** When the database is frozen or cut off it can't end a statement itself. */
const ANSWER_TIMEOUT_MS = 6_000;

/**
 * Every statement here has one good plan, whatever its values: to make it anew would cost as much as to carry it out.
 * And digests and times are written the one way we read, whatever the database is set to.
 */
const SETTINGS = '-c plan_cache_mode=force_generic_plan -c bytea_output=hex -c datestyle=ISO';

/** Bytes as PostgreSQL writes them: `\x` and two hex digits each. Here they are digests, and nobody needs them otherwise. */
export type Bytea = `\\x${string}`;

/** Bytes stay text, and times are read in a third of the time that pg's own parser takes. */
const TYPES = new pg.TypeOverrides();
TYPES.setTypeParser(pg.types.builtins.BYTEA, (digest) => digest);
TYPES.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (time) => new Date(time));

/** Opens the pool. It connects when first asked, and again by itself after the database was away. */
export function openDatabase(settings: ConnectionSettings, onError: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({
    ...settings,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    options: SETTINGS,
    types: TYPES,
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

/**
 * Runs a statement that answers many questions at once; its column `n` says which row answers which, from 1 on.
 *
 * @returns for each question its row, null when it has none
 */
export async function selectEach<Row extends object>(
  db: Database,
  statement: Statement,
  questions: readonly unknown[],
  values: unknown[],
): Promise<(Row | null)[]> {
  const answers: (Row | null)[] = questions.map(() => null);
  for (const row of await select<Row & { n: number }>(db, statement, values)) answers[row.n - 1] = row;
  return answers;
}

/**
 * What is registered is visible ASCII, so a text that isn't matches nothing. It goes out as no text at all: no
 * caller can make the statement of a whole batch fail by what it sends.
 */
export function asciiOnly(text: string): string {
  return /^[\x21-\x7e]*$/.test(text) ? text : '';
}

/**
 * Runs `work` on one connection of the pool. If that breaks meanwhile, the statement under way says so;
 * without a listener the same news would end the process.
 *
 * @param keep false to close the connection afterwards, with all settings and locks that it holds
 */
export async function withConnection<Result>(
  pool: pg.Pool,
  work: (connection: pg.PoolClient) => Promise<Result>,
  keep = true,
): Promise<Result> {
  const connection = await pool.connect();
  const ignore = () => {};
  connection.on('error', ignore);
  let finished = false;
  try {
    const result = await work(connection);
    finished = true;
    return result;
  } finally {
    connection.off('error', ignore);
    connection.release(!(finished && keep));
  }
}

/** Runs `work` in one transaction: all of it is written, or nothing. */
export function transaction<Result>(
  pool: pg.Pool,
  work: (connection: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  // After an error the connection is closed, which rolls back whatever state it is in.
  return withConnection(pool, async (connection) => {
    await connection.query('begin');
    const result = await work(connection);
    await connection.query('commit');
    return result;
  });
}

/** Waits until nobody else holds this lock, and holds it until the end of the transaction. */
export async function lockForTransaction(connection: pg.PoolClient, lock: number): Promise<void> {
  await connection.query('select pg_advisory_xact_lock($1)', [lock]);
}

/**
 * SQLSTATEs of a database that can't answer now but may answer the same statement later: connection lost (08),
 * no resources (53), shutting down or statement cancelled (57), closed to us by its operator (28, 3D000, 55000),
 * deadlock and lock timeout, a replica that takes no writes.
 */
const AWAY = /^(08|28|53|57|3D000$|40001$|40P01$|55000$|55P03$|25006$)/;
const NETWORK_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EPIPE',
  'EAI_AGAIN',
  'EHOSTUNREACH',
]);
const CONNECTION_LOST = /Connection terminated|Client has encountered a connection error/i;
const TOO_LATE = /ETIMEDOUT|Query read timeout|timeout exceeded when trying to connect/i;

/** SQLSTATE classes that one caller's data can cause: they must not fail the others of a batch. */
const ONE_CALLERS_FAULT = /^(22|23|40|55)/;

/** Whether an error of a batch may be the fault of one of its questions: data, constraint, deadlock or lock. */
export function isOneCallersFault(error: unknown): boolean {
  return error instanceof Error && ONE_CALLERS_FAULT.test((error as NodeJS.ErrnoException).code ?? '');
}

/**
 * Asks once more when the connection was lost on the way, but not when time ran out: that would take it twice.
 * The statement may have been carried out, so this is only for those that do no harm when asked twice.
 */
export async function askTwice<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  return ask().catch((error: unknown) => {
    if (isConnectionLost(error)) return ask();
    throw error;
  });
}

/** SQLSTATEs of a connection that PostgreSQL ended: a restart, a failover, an operator. */
const CONNECTION_ENDED = /^(08|57P0)/;

function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = '' } = error as NodeJS.ErrnoException;
  return CONNECTION_ENDED.test(code) || NETWORK_ERRORS.has(code) || CONNECTION_LOST.test(error.message);
}

/** Whether `error` says that PostgreSQL could not be reached or could not answer, so that trying again may help. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return syscall === 'connect'; // the Unix socket is not there
  return AWAY.test(code) || isConnectionLost(error) || TOO_LATE.test(error.message);
}
