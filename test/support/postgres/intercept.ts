import type pg from 'pg';

type Run = () => Promise<pg.QueryResult>;
type Done = (error: Error | null, result?: pg.QueryResult) => void;

/** The pool, but what its connections are asked goes through `through`, which may do something before or after. */
export function intercept(
  pool: pg.Pool,
  through: (statement: pg.QueryConfig, run: Run) => Promise<pg.QueryResult>,
): pg.Pool {
  const connect = async () => {
    const connection = await pool.connect();
    const { query, release } = connection;
    const run = query as (statement: pg.QueryConfig) => Promise<pg.QueryResult>;
    return Object.assign(connection, {
      query(statement: pg.QueryConfig, done: Done) {
        through(statement, () => run.call(connection, statement)).then((result) => done(null, result), done);
      },
      release(error?: Error | boolean) {
        Object.assign(connection, { query, release });
        connection.release(error);
      },
    });
  };
  return Object.create(pool, { connect: { value: connect } }) as pg.Pool;
}

/** The pool, but each statement of this name waits until `work` is done, and fails if that does. */
export function doingBefore(pool: pg.Pool, name: string, work: () => Promise<unknown>): pg.Pool {
  return intercept(pool, async (statement, run) => {
    if (statement.name === name) await work();
    return run();
  });
}
