import type pg from 'pg';
import type { DatabaseConfig } from './config.ts';
import { closeBeforeEnd } from './ending.ts';
import { openDatabase } from './store/database/database.ts';
import { Positions } from './store/database/position.ts';
import { openStandbys, type Standby } from './store/database/standby.ts';
import { migrate } from './store/schema/migrate.ts';
import { schemaState } from './store/schema/schemaState.ts';
import { ensureServerRole } from './store/schema/serverRole.ts';

/** An open database, whichever it is. */
export interface Store {
  readonly pool: pg.Pool;
  /** Opens another pool at the same database, for its caller to end. */
  openAnother(): pg.Pool;
  /** What introspection may ask instead; mostly none. */
  readonly standbys: readonly Standby[];
  /** Leaves the database when what is under way is done; the last one out of the embedded PostgreSQL stops it. */
  close(): Promise<void>;
  /** Leaves it at once: PostgreSQL rolls back what is under way when the connections close. */
  abandon(): Promise<void>;
}

/** Where messages about the database go: pino's logger, or a command's standard error. */
export interface StoreLog {
  info(line: string): void;
  warn(line: string): void;
}

/** Whose role trial mode connects as; elsewhere `DATABASE_URL` names it. */
type Role = 'owner' | 'server';

/** Opens the operator's database or, without one, joins the embedded PostgreSQL of trial mode. */
export async function openStore(config: DatabaseConfig, log: StoreLog, as: Role = 'owner'): Promise<Store> {
  const { databaseUrl, databasePassword: password, dataDir, readUrl, readLagMs } = config;
  if (databaseUrl === null) return as === 'server' ? openToServe(config, log) : openTrialStore(dataDir, log);
  const settings = readUrl !== null && readLagMs === 0 ? APPLIED : {};
  const openAnother = () => openDatabase(databaseUrl, password, { settings });
  const pool = openAnother();
  const standbys = readUrl === null ? [] : openStandbys(readUrl, password, new Positions(pool, readLagMs));
  const close = async () => {
    await Promise.all([pool.end(), ...standbys.map((standby) => standby.pool.end())]);
  };
  return { pool, openAnother, standbys, close, abandon: async () => {} };
}

/** What is answered as done has been replayed by the standbys that `synchronous_standby_names` makes it wait for. */
const APPLIED = { synchronous_commit: 'remote_apply' };

/** The role that serves in trial mode. The tables belong to the embedded PostgreSQL's superuser. */
const TRIAL_ROLE = { user: 'assent_server' };

/** Has trial mode's owner bring the schema up to date and give the role that serves its rights, and connects as that. */
async function openToServe(config: DatabaseConfig, log: StoreLog): Promise<Store> {
  const owner = await openMigratedStore(config, log);
  try {
    await ensureServerRole(owner.pool, TRIAL_ROLE.user, 'trial mode');
    return await openTrialStore(config.dataDir, log, TRIAL_ROLE);
  } finally {
    await owner.close();
  }
}

/** Only here is the embedded PostgreSQL loaded: production has none of its code. */
async function openTrialStore(dataDir: string, log: StoreLog, role = {}): Promise<Store> {
  const { joinEmbeddedPostgres, leaveEmbeddedPostgres } = await import('./trial/postgres/join.ts');
  // A signal may come in the middle of joining.
  closeBeforeEnd(async () => {
    await leaveEmbeddedPostgres();
    return false;
  });
  const embedded = await joinEmbeddedPostgres(dataDir, { log: (line) => log.warn(line) });
  const openAnother = () => openDatabase({ ...embedded.connection, ...role });
  const pool = openAnother();
  const close = async () => {
    await pool.end();
    await embedded.leave();
  };
  return { pool, openAnother, standbys: [], close, abandon: leaveEmbeddedPostgres };
}

/** Opens the database and brings its schema to this build's version. */
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

/** Migrates, and says what was done or that the schema is newer. @throws {MigrationError} */
export async function migrateAndTell(pool: pg.Pool, log: StoreLog): Promise<void> {
  for (const { name } of await migrate(pool)) log.info(`applied migrations/${name}`);
  const { version, known } = await schemaState(pool);
  if (version > known)
    log.warn(`the schema is at version ${version}, newer than this build's ${known}, and serves it`);
}
