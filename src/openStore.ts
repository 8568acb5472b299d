import type pg from 'pg';
import { openDatabase } from './store/database.ts';
import { migrate } from './store/migrate.ts';
import { joinEmbeddedPostgres } from './trial/postgres/join.ts';

/** An open database, whichever it is. */
export interface Store {
  readonly pool: pg.Pool;
  /** Leaves the database; the last one out of the embedded PostgreSQL stops it. */
  close(): Promise<void>;
}

/** Who is told what happens to the database: pino's logger, or a command's standard error. */
export interface StoreLog {
  info(line: string): void;
  warn(line: string): void;
}

/** Where the database is: the operator's address, or the folder of the embedded one. */
export interface StoreSettings {
  readonly databaseUrl: string | null;
  readonly databasePassword: string | null;
  readonly dataDir: string;
}

/**
 * Opens the operator's database or, without one, joins the embedded PostgreSQL.
 */
export async function openStore(settings: StoreSettings, log: StoreLog): Promise<Store> {
  const { databaseUrl, databasePassword, dataDir } = settings;
  if (databaseUrl !== null) {
    const pool = openDatabase(databaseUrl, ignore, databasePassword);
    return { pool, close: () => pool.end() };
  }
  const embedded = await joinEmbeddedPostgres(dataDir, { log: (line) => log.warn(line) });
  const pool = openDatabase(embedded.connection(), ignore);
  const close = async () => {
    await pool.end();
    await embedded.leave();
  };
  return { pool, close };
}

/** An idle connection that broke costs nothing: the next query opens another, and a server's watch hears of it. */
function ignore(): void {}

/** Opens the database and brings its schema to this build's version. */
export async function openMigratedStore(settings: StoreSettings, log: StoreLog): Promise<Store> {
  const store = await openStore(settings, log);
  try {
    for (const { name } of await migrate(store.pool)) log.info(`applied migrations/${name}`);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
