import type pg from 'pg';
import { transaction } from '../database/database.ts';
import { queryLong } from '../database/query.ts';
import { DOUBLE_GRANTS, GRANTS, GRANTS_AND_EVENTS, ORPHANS } from './ofGrants.ts';
import { SECRETS, SESSIONS, TRAIL } from './ofOthers.ts';
import type { Broken, Source } from './question.ts';

const SOURCES = [GRANTS, DOUBLE_GRANTS, GRANTS_AND_EVENTS, ORPHANS, SECRETS, SESSIONS, TRAIL] as const;

/** The names of all questions. */
export type Invariant = NamesOf<(typeof SOURCES)[number]>;

type NamesOf<One> = One extends Source<infer Name> ? Name : never;

/** The questions that one statement answers. */
export interface Questions {
  readonly names: readonly Invariant[];
  /** @param seconds how long it may take @throws when it takes longer, or the role may not read the rows */
  ask(pool: pg.Pool, seconds: number): Promise<Broken<Invariant>[]>;
}

/** In the order of asking. */
export const QUESTIONS: readonly Questions[] = SOURCES.map((source) => {
  const names = Object.keys(source.broken) as Invariant[];
  return { names, ask: (pool, seconds) => ask(pool, source as Source<Invariant>, names, seconds) };
});

/**
 * Beside a server that works: one core, an amount of memory, no lock but the one that every reader takes, and a snapshot of
 * its own that keeps VACUUM from tidying for no longer than this statement. Whatever statistics say, no table is read once for
 * each row of another.
 */
const CAREFULLY = `set transaction read only; set local max_parallel_workers_per_gather = 0; set local work_mem = '128MB';
  set local enable_nestloop = off`;

async function ask(
  pool: pg.Pool,
  { from, id, broken }: Source<Invariant>, // those of `names`
  names: readonly Invariant[],
  seconds: number,
): Promise<Broken<Invariant>[]> {
  // Each condition is judged once for a row: `offset 0` keeps it from being merged into both columns.
  const judged = names.map((name) => `(${broken[name]}) as ${name}`);
  const columns = names.flatMap((name) => [
    `count(*) filter (where ${name})::int as ${name}`,
    `min(id::text) filter (where ${name}) as ${name}_example`,
  ]);
  const text = `select ${columns.join(', ')} from (select ${id} as id, ${judged.join(', ')} from ${from} offset 0) asked`;
  const found = await transaction(pool, async (connection) => {
    await connection.query(CAREFULLY);
    const [row] = await queryLong<Record<string, number | string | null>>(
      connection,
      { name: '', text },
      seconds * 1000,
    );
    return row ?? {};
  });
  return names.map((name) => {
    const example = found[`${name}_example`];
    return { name, rows: Number(found[name]), example: example == null ? null : String(example) };
  });
}
