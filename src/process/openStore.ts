import type pg from 'pg';
import type { DatabaseConfig } from '../config/config.ts';
import { openDatabase } from '../store/database/database.ts';
import { migrate } from '../store/schema/migrate.ts';
import { schemaState } from '../store/schema/schemaState.ts';
import { ensureServerRole } from '../store/schema/serverRole.ts';
import { onEnd } from './ending.ts';

export interface Store {
  readonly pool: pg.Pool;
  /** Closes the pool once its work is done; the last user of the embedded PostgreSQL stops it. */
  close(): Promise<void>;
}

/** Destination of database messages: pino's logger, or a command's standard error. */
export type StoreLog = Record<'info' | 'warn', (line: string) => void>;

/** Trial mode's role; elsewhere `DATABASE_URL` names it. */
type Role = 'owner' | 'server';

/** Opens the operator's database or, without one, joins the embedded PostgreSQL of trial mode. */
export async function openStore(config: DatabaseConfig, log: StoreLog, as: Role = 'owner'): Promise<Store> {
  const { databaseUrl, databasePassword: password, dataDir } = config;
  if (databaseUrl === null) return as === 'server' ? openToServe(config, log) : openTrialStore(dataDir, log);
  const pool = openDatabase(databaseUrl, password);
  return { pool, close: () => pool.end() };
}

/** Trial mode's server role. The tables belong to the embedded PostgreSQL's superuser. */
const TRIAL_ROLE = { user: 'assent_server' };

/** Lets trial mode's owner migrate the schema and grant the server role its rights, then connects as that role. */
async function openToServe(config: DatabaseConfig, log: StoreLog): Promise<Store> {
  const owner = await openMigratedStore(config, log);
  try {
    await ensureServerRole(owner.pool, TRIAL_ROLE.user, 'trial mode');
    return await openTrialStore(config.dataDir, log, TRIAL_ROLE);
  } finally {
    await owner.close();
  }
}

/** Loads the embedded PostgreSQL, and only here: production has none of its code. */
async function openTrialStore(dataDir: string, log: StoreLog, role = {}): Promise<Store> {
  const { joinEmbeddedPostgres, leaveEmbeddedPostgres } = await import('../trial/postgres/join.ts');
  onEnd(leaveEmbeddedPostgres); // also while joining
  const embedded = await joinEmbeddedPostgres(dataDir, { log: (line) => log.warn(line) });
  const pool = openDatabase({ ...embedded.connection, ...role });
  const close = async () => {
    await pool.end();
    await embedded.leave();
  };
  return { pool, close };
}

export async function openMigratedStore(config: DatabaseConfig, log: StoreLog): Promise<Store> {
  const store = await openStore(config, log);
  try {
    await migrateAndTell(store.pool, log);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Migrates, and logs the result or a newer schema. @throws {MigrationError} */
export async function migrateAndTell(pool: pg.Pool, log: StoreLog): Promise<void> {
  for (const { name } of await migrate(pool)) log.info(`applied migrations/${name}`);
  const { version, known } = await schemaState(pool);
  if (version > known)
    log.warn(`the schema is at version ${version}, newer than this build's ${known}, and serves it`);
}
