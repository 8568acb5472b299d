import { readdir } from 'node:fs/promises';
import type { Database } from '../database/database.ts';
import { findRow } from '../database/query.ts';

export const FOLDER = new URL('../../../migrations/', import.meta.url);

/** A file of `migrations/`: numbered, never changed once on main. */
export type Migration = Awaited<ReturnType<typeof listMigrations>>[number];

/** A database unusable for this build; the message has the remedy. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/** The migrations of this build, in order. */
export async function listMigrations() {
  const files = (await readdir(FOLDER)).filter((file) => /^\d+_.*\.sql$/.test(file)).sort();
  return files.map((name, index) => {
    const version = Number(name.slice(0, 4));
    if (version !== index + 1) throw new MigrationError(`migrations/${name} is not number ${index + 1}`);
    return { version, name };
  });
}

/** By a column, because other programs have tables of this name. */
const findSchema = findRow<void, { found: boolean }>('schema-exists')`
  select exists (select from pg_attribute
                  where attrelid = to_regclass('schema_migrations') and attname = 'applied_at') as found`;
/** `oldest`: the oldest build that later migrations than `known` allow; null without any. */
const findVersion = findRow<{ known: number }, { version: number; oldest: number | null }>('schema-version')`
  select coalesce(max(version), 0)::int as version,
         max(coalesce(oldest_build, version)) filter (where version > @known) as oldest from schema_migrations`;

/**
 * `version`: 0 without tables of ours. `known`: this build's version. It `serves` an older schema after a migration, a newer one
 * if all later migrations say so. `text` says this in words, and `remedy` what to do if the versions differ.
 */
export async function schemaState(db: Database) {
  const { length: known } = await listMigrations();
  const { found } = await findSchema(db);
  const { version, oldest } = found ? await findVersion(db, { known }) : { version: 0, oldest: null };
  const state = (serves: boolean, text: string, remedy: string) => ({ version, known, serves, text, remedy });
  if (version === 0)
    return state(true, 'this database has no tables of Assent', 'check DATABASE_URL, or run assent migrate');
  const text = `schema version ${version}, this build's is ${known}`;
  if ((oldest ?? 0) <= known) return state(true, text, 'run assent migrate, or the build of the servers');
  return state(false, `${text}, which this build does not support`, 'run a newer build');
}
