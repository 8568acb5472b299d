import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { codeOf, LOCK_NOT_AVAILABLE } from '../database/errors.ts';
import { executeLong, findAll, send } from '../database/query.ts';
import { preparePartitions } from './auditPartitions.ts';
import {
  FOLDER,
  listMigrations,
  type Migration,
  MigrationError,
  schemaState,
  withMigrationLock,
} from './schemaState.ts';

/** By SQLSTATE: a missing privilege, a name that is taken, a lock that isn't free. */
const ADVICE: Readonly<Record<string, string>> = {
  '42501': '; run "assent migrate" as the owner of the tables',
  '42P07': '; use a separate schema or database for Assent',
  [LOCK_NOT_AVAILABLE]: '; pg_blocking_pids() shows which process holds the lock',
};

/** A migration's first line: the schema version of the oldest build that can serve after it. */
const SERVES = /^-- Serves builds from schema version (\d+) on\.\n/;

/**
 * Brings the database to this build's version and the audit trail's partitions to this month: one transaction a step, once for
 * all servers that start together. A newer schema that serves this build stays. @param beside begins even where another
 * program has tables @returns the applied migrations, in order
 * @throws {MigrationError} if the database does not serve this build, or is not ours to change
 */
export async function migrate(pool: pg.Pool, beside = false): Promise<Migration[]> {
  const applied: Migration[] = [];
  const next = () => withMigrationLock(pool, (connection) => applyNext(connection, beside));
  for (let migration = await next(); migration; migration = await next()) applied.push(migration);
  await preparePartitions(pool);
  return applied;
}

/** Some tables where ours would be made, without those of extensions. */
const findTables = findAll<void, { name: string }>('')`
  select relname as name from pg_class c join pg_namespace n on n.oid = relnamespace
   where nspname = current_schema() and relkind in ('r', 'p') and not exists (
         select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')
   order by 1 limit 3`;

/** @returns the applied migration, undefined if none is left */
async function applyNext(connection: pg.PoolClient, beside: boolean) {
  // Names and scopes are UTF-8 (contract section 4): another encoding would fail at the first missing letter.
  const { rows } = await send<{ server_encoding: string }>(connection, 'show server_encoding');
  const encoding = rows[0]?.server_encoding;
  if (encoding !== 'UTF8')
    throw new MigrationError(`the database's encoding is ${encoding}: create it with encoding UTF8`);
  const { version, serves, text, remedy } = await schemaState(connection);
  if (!serves) throw new MigrationError(`${text}: ${remedy}`);
  const others = version === 0 && !beside ? await findTables(connection) : [];
  if (others.length > 0) {
    const some = others.map(({ name }) => name).join(', ');
    throw new MigrationError(
      `${text}, but those of another program, such as ${some}: ${remedy} to create Assent's beside them`,
    );
  }
  const next = (await listMigrations())[version];
  if (next !== undefined) await apply(connection, next);
  return next;
}

const CREATE_HISTORY = `create table if not exists schema_migrations (
  version integer primary key, name text not null, applied_at timestamptz not null default clock_timestamp(),
  oldest_build integer check (oldest_build <= version))`;

async function apply(connection: pg.PoolClient, { version, name }: Migration): Promise<void> {
  const text = await readFile(new URL(name, FOLDER), 'utf8');
  try {
    await send(connection, CREATE_HISTORY);
    await executeLong(connection, text);
    const [, oldest = null] = SERVES.exec(text) ?? [];
    const insert = 'insert into schema_migrations (version, name, oldest_build) values ($1, $2, $3)';
    await send(connection, { text: insert, values: [version, name, oldest] });
  } catch (cause) {
    const { message } = cause as Error;
    const advice = ADVICE[codeOf(cause)] ?? '';
    throw new MigrationError(`migrations/${name} failed and changed nothing: ${message}${advice}`, { cause });
  }
}
