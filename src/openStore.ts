import type pg from 'pg';
import type { DatabaseConfig } from './config.ts';
import { closeBeforeEnd } from './ending.ts';
import { openDatabase } from './store/database/database.ts';
import { Positions } from './store/database/position.ts';
import { openStandbys, type Standby } from './store/database/standby.ts';
import { migrate } from './store/schema/migrate.ts';

/** An open database, whichever it is. */
export interface Store {
  readonly pool: pg.Pool;
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

/** Opens the operator's database or, without one, joins the embedded PostgreSQL of trial mode. */
export async function openStore(config: DatabaseConfig, log: StoreLog): Promise<Store> {
  const { databaseUrl, databasePassword: password, dataDir, readUrl, readLagMs } = config;
  if (databaseUrl === null) return openTrialStore(dataDir, log);
  const settings = readUrl !== null && readLagMs === 0 ? APPLIED : {};
  const pool = openDatabase(databaseUrl, password, { settings });
  const standbys = readUrl === null ? [] : openStandbys(readUrl, password, new Positions(pool, readLagMs));
  const close = async () => {
    await Promise.all([pool.end(), ...standbys.map((standby) => standby.pool.end())]);
  };
  return { pool, standbys, close, abandon: async () => {} };
}

/** What is answered as done has been replayed by the standbys that `synchronous_standby_names` makes it wait for. */
const APPLIED = { synchronous_commit: 'remote_apply' };

/** Only here is the embedded PostgreSQL loaded: production has none of its code. */
async function openTrialStore(dataDir: string, log: StoreLog): Promise<Store> {
  const { joinEmbeddedPostgres, leaveEmbeddedPostgres } = await import('./trial/postgres/join.ts');
  // A signal may come in the middle of joining.
  closeBeforeEnd(async () => {
    await leaveEmbeddedPostgres();
    return false;
  });
  const embedded = await joinEmbeddedPostgres(dataDir, { log: (line) => log.warn(line) });
  const pool = openDatabase(embedded.connection);
  const close = async () => {
    await pool.end();
    await embedded.leave();
  };
  return { pool, standbys: [], close, abandon: leaveEmbeddedPostgres };
}

/** Opens the database and brings its schema to this build's version. */
export async function openMigratedStore(config: DatabaseConfig, log: StoreLog): Promise<Store> {
  const store = await openStore(config, log);
  try {
    for (const { name } of await migrate(store.pool)) log.info(`applied migrations/${name}`);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
