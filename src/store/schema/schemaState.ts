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

const findSchema = findRow<void, { found: boolean }>(
  'schema-exists',
  `select to_regclass('schema_migrations') is not null as found`,
);
const findVersion = findRow<void, { version: number }>(
  'schema-version',
  'select coalesce(max(version), 0)::int as version from schema_migrations',
);

const findOldestBuild = findRow<{ known: number }, { oldest: number }>(
  'schema-oldest-build',
  'select max(coalesce(oldest_build, version)) as oldest from schema_migrations where version > @known',
);

/** `version`: 0 for an empty database. `known`: this build's version. It `serves` an older schema after a migration, a newer one if all later migrations say so. */
export async function schemaState(db: Database) {
  const { found } = await findSchema(db);
  const version = found ? (await findVersion(db)).version : 0;
  const { length: known } = await listMigrations();
  if (version <= known) return { version, known, serves: true };
  const { oldest } = await findOldestBuild(db, { known });
  return { version, known, serves: oldest <= known };
}
