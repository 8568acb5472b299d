import type pg from 'pg';
import { openDatabase } from './database.ts';
import { joinEmbeddedPostgres } from './embedded.ts';
import { migrate } from './migrate.ts';

/** An open database, whichever it is. */
export interface Store {
  readonly pool: pg.Pool;
  /** Leaves the database; the last one out of the embedded PostgreSQL stops it. */
  close(): Promise<void>;
}

/** Where the database is: the operator's address, or the folder of the embedded one. */
export interface StoreSettings {
  readonly databaseUrl: string | null;
  readonly dataDir: string;
}

/**
 * Opens the operator's database or, without one, joins the embedded PostgreSQL.
 *
 * @param log told what went wrong with the connection and was mended
 */
export async function openStore(
  { databaseUrl, dataDir }: StoreSettings,
  log: (line: string) => void,
): Promise<Store> {
  const onError = (error: Error) => log(`a database connection broke: ${error.message}`);
  if (databaseUrl !== null) {
    const pool = openDatabase({ connectionString: databaseUrl }, onError);
    return { pool, close: () => pool.end() };
  }
  const embedded = await joinEmbeddedPostgres(dataDir, { log });
  const pool = openDatabase(embedded.connection(), onError);
  const close = async () => {
    await pool.end();
    await embedded.leave();
  };
  return { pool, close };
}

/** Opens the database and brings its schema to this build's version. */
export async function openMigratedStore(
  settings: StoreSettings,
  log: (line: string) => void,
): Promise<Store> {
  const store = await openStore(settings, log);
  try {
    for (const { name } of await migrate(store.pool)) log(`applied migrations/${name}`);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
