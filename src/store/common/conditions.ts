import type pg from 'pg';
import { queryPages } from '../database/query.ts';
import { statement } from '../database/statement.ts';

/** A `where` condition of only the given filters, so that its plan fits them. Null and undefined ones are ignored. */
export function whereOf<Name extends string>(
  conditions: Readonly<Record<Name, string>>,
  filter: Readonly<Partial<Record<Name, unknown>>>,
): string {
  const asked = Object.entries(filter).filter(([, value]) => value != null);
  return asked.map(([name]) => conditions[name as Name]).join(' and ') || 'true';
}

const LISTED = {
  name: 'position(lower(@name) in lower(name)) > 0',
  login: 'position(@login in login_key) > 0',
  externalId: 'external_id = @externalId',
  search: `user_id = any (array(select user_id from users where words_of(login, name) @@ to_tsquery('simple', @search) limit 200))`,
};

export type ListFilter = Partial<
  Record<keyof typeof LISTED | 'after' | 'status', string | undefined> & Record<'limit', number | undefined>
>;

/** Lists the matching rows by a key with an index, from the one `after` on, in pages. */
export function keysetListBy<Row extends object>(
  key: string,
  columns: string,
  table: string,
  status = 'status',
) {
  const conditions = { ...LISTED, status: `${status} = @status`, after: `${key} > @after` };
  return (pool: pg.Pool, { limit, ...filter }: ListFilter) => {
    const rest = `where ${whereOf(conditions, filter)} order by ${key} limit ${limit ?? null}`;
    return queryPages<Row>(
      pool,
      statement<ListFilter>('', `select ${columns} from ${table} ${rest}`)(filter),
    );
  };
}

/** SQL for microseconds since 1970: rows of one statement may be less than a millisecond apart. */
export const microsSql = (time: string) => `(extract(epoch from ${time}) * 1000000)::bigint`;
/** The reverse. */
export const timeFromMicrosSql = (count: string) =>
  `timestamptz 'epoch' + ${count}::bigint * interval '1 microsecond'`;
/** The time in `@after`, the place of a row: its microseconds, a dot, and what distinguishes it within them. */
export const CURSOR_TIME_SQL = timeFromMicrosSql(`split_part(@after, '.', 1)`);
