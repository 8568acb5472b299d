import { REFUSALS_KEPT_DAYS } from '../rules/lifetimes.ts';
import type { Database } from './database/database.ts';
import { execute, queryOne } from './database/query.ts';
import { batchStatement, statement } from './database/statement.ts';

/** Why a request was refused: what its log line says, without client and user. */
export interface Refusal {
  readonly at: Date;
  /** The reference on the error page and of the log line. */
  readonly reference: string;
  readonly method: string;
  /** Which address of ours was asked; never a query. */
  readonly path: string;
  readonly status: number;
  readonly error: string;
  /** The exact rule that was broken. */
  readonly rule: string;
}

const insert = batchStatement<Refusal>(
  'refusal-insert',
  {
    at: 'timestamptz',
    reference: 'text',
    method: 'text',
    path: 'text',
    status: 'int',
    error: 'text',
    rule: 'text',
  },
  (input) => `
insert into refusals (at, reference, method, path, status, error, rule)
select at, reference, method, path, status, error, rule from ${input}
on conflict (slot) do update
   set at = excluded.at, reference = excluded.reference, method = excluded.method, path = excluded.path,
       status = excluded.status, error = excluded.error, rule = excluded.rule`,
);

/** Keeps refusals; when all slots are taken, in place of the oldest. */
export async function insertRefusals(db: Database, refusals: readonly Refusal[]): Promise<void> {
  await execute(db, insert(refusals));
}

const find = statement<{ reference: string }>(
  'refusal-find',
  `select at, reference, method, path, status, error, rule from refusals
    where reference = @reference and at > clock_timestamp() - interval '${REFUSALS_KEPT_DAYS} days'`,
);

/** The refusal with this reference; null when none is kept. */
export const findRefusal = (db: Database, reference: string): Promise<Refusal | null> =>
  queryOne(db, find({ reference }));
