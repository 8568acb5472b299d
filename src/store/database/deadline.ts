import type pg from 'pg';
import type { Caller } from '../../rules/common/caller.ts';
import { OverloadedError } from '../../rules/common/error.ts';
import { DECIDING_STATEMENT_MS } from '../../rules/common/timeouts.ts';
import { batched } from './batch.ts';
import { compareClocks, inDatabaseTime } from './connection.ts';
import type { Database } from './database.ts';
import { orderByRequest, requireRow, runOnConnection } from './query.ts';
import {
  batchStatement,
  type ComputedInputs,
  type Query,
  type SqlTemplate,
  statement,
  textOf,
} from './statement.ts';

// Deciding statements. A 503 means "not done" to the caller: its statement, reaching PostgreSQL later, must not undo the caller's
// later acts. A timeout on our side ends the waiting, not the statement, and `statement_timeout` begins only when PostgreSQL has the
// statement, however long it was on the way. So each takes `@deadline`, reads the clock while holding its locks, and returns `late`
// if it did nothing (docs/develop/statements.md#late).

const TOO_LATE = 'the statement reached the database after its deadline and did nothing';

/** The table `moment` with its column `late`: evaluated after locking every row of the queries `locked`, to count them. */
export const momentOf = (...locked: readonly string[]) => `moment as materialized (
  select clock_timestamp() >= @deadline::timestamptz as late
    from (select ${locked.map((query) => `(select count(*) from ${query})`).join(' + ')} as rows) locked where rows >= 0
)`;

/** A deciding {@link batchStatement} for one caller, see {@link batched}. The earliest deadline of its callers applies. */
export function batchedDecidingStatement<Row extends object, Request extends Pick<Caller, 'decideBy'>>(
  name: string,
  rowOf: (request: Request) => string | null,
  computed: ComputedInputs<Request>,
) {
  return (...sql: SqlTemplate): ((pool: pg.Pool, request: Request) => Promise<Row>) => {
    const made = batchStatement(name, textOf(sql), computed);
    const run = async (pool: pg.Pool, requests: readonly Request[]) => {
      const decideBy = Math.min(...requests.map(({ decideBy }) => decideBy));
      const rows = await runDeciding<Row & { n: number }>(pool, made(requests), decideBy);
      return orderByRequest(rows, requests.length).map((found) => {
        const row = requireRow(found, name);
        return row.late ? new OverloadedError(TOO_LATE) : row;
      });
    };
    return batched<Request, Row>(name, run, rowOf);
  };
}

/** A deciding {@link statement} with one row. The function also rejects with {@link OverloadedError}. */
export function decidingStatement<Values extends Pick<Caller, 'decideBy'>, Row extends object>(name: string) {
  return (...sql: SqlTemplate): ((db: Database, values: Values) => Promise<Row>) => {
    const made = statement<Values>(name, textOf(sql));
    return async (db, values) => {
      const [first = null] = await runDeciding<Row>(db, made(values), values.decideBy);
      const row = requireRow(first, name);
      if (row.late) throw new OverloadedError(TOO_LATE);
      return row;
    };
  };
}

function runDeciding<Row extends object>(
  db: Database,
  { name, text, values = [] }: Query,
  decideBy: number,
): Promise<(Row & { late: boolean })[]> {
  return runOnConnection(db, async (connection, run) => {
    const attempt = async () => {
      const deadline = inDatabaseTime(connection, decideBy);
      const config = { name, text, values: [...values, deadline], limitMs: DECIDING_STATEMENT_MS };
      return (await run<Row & { late: boolean }>(connection, config)).rows;
    };
    const rows = await attempt();
    if (!rows.some(({ late }) => late) || performance.now() >= decideBy) return rows;
    // Late by PostgreSQL's clock, in time by ours: PostgreSQL's was set since their comparison.
    await compareClocks(connection);
    return attempt();
  });
}
