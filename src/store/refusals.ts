import { REFUSALS_KEPT_DAYS } from '../rules/lifetimes.ts';
import { type Database, execute, queryOne } from './database.ts';

/** Why a request was refused: what its log line says, without whose it was. */
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

const insert = {
  name: 'refusal-insert',
  text: `
insert into refusals (at, reference, method, path, status, error, rule)
select * from unnest($1::timestamptz[], $2::text[], $3::text[], $4::text[], $5::int[], $6::text[], $7::text[])
on conflict (slot) do update
   set at = excluded.at, reference = excluded.reference, method = excluded.method, path = excluded.path,
       status = excluded.status, error = excluded.error, rule = excluded.rule`,
};

/** Keeps refusals, each in the place of the oldest when there are more than slots. */
export async function insertRefusals(db: Database, refusals: readonly Refusal[]): Promise<void> {
  await execute(db, insert, [
    refusals.map(({ at }) => at),
    refusals.map(({ reference }) => reference),
    refusals.map(({ method }) => method),
    refusals.map(({ path }) => path),
    refusals.map(({ status }) => status),
    refusals.map(({ error }) => error),
    refusals.map(({ rule }) => rule),
  ]);
}

const find = {
  name: 'refusal-find',
  text: `select at, reference, method, path, status, error, rule from refusals
          where reference = $1 and at > clock_timestamp() - interval '${REFUSALS_KEPT_DAYS} days'`,
};

/** The refusal with this reference; undefined when none is kept. */
export function findRefusal(db: Database, reference: string): Promise<Refusal | undefined> {
  return queryOne<Refusal>(db, find, [reference]);
}

const removeOld = {
  name: 'refusal-remove-old',
  text: `delete from refusals where at < clock_timestamp() - interval '${REFUSALS_KEPT_DAYS} days'`,
};

/** Forgets what is older than a week. */
export async function removeOldRefusals(db: Database): Promise<void> {
  await execute(db, removeOld, []);
}
