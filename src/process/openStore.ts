import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import { type Config, type DatabaseConfig, settingsOf } from '../config/config.ts';
import { ConfigError } from '../config/environment.ts';
import { OperatorError } from '../rules/common/error.ts';
import { gateOf, type MigrationGate, openDatabase } from '../store/database/database.ts';
import { isTransientAtStart } from '../store/database/errors.ts';
import { migrate } from '../store/schema/migrate.ts';
import { MigrationError, schemaState } from '../store/schema/schemaState.ts';
import { ensureServerRole } from '../store/schema/serverRole.ts';
import { differing, findSettings, saveSettings } from '../store/schema/settings.ts';
import { onEnd } from './ending.ts';

export interface Store {
  readonly pool: pg.Pool;
  /** Closes the pool once its work is done; the last user of the embedded PostgreSQL stops it. */
  close(): Promise<void>;
}

/** Destination of database messages: pino's logger, or a command's standard error. */
export type StoreLog = Record<'info' | 'warn', (line: string) => void>;

/** Opens the operator's database or, without one, joins the embedded PostgreSQL of trial mode as its owner. */
export async function openStore(config: DatabaseConfig, log: StoreLog): Promise<Store> {
  if (config.databaseUrl === null) return openTrialStore(config.dataDir, log);
  const pool = openDatabase(config.databaseUrl, config.databasePassword);
  return { pool, close: () => pool.end() };
}

/** The same for a server: trial mode's owner migrates the schema and grants a role its rights, which connects. */
export async function openServerStore(config: DatabaseConfig, log: StoreLog): Promise<Store> {
  if (config.databaseUrl !== null) return openStore(config, log);
  const owner = await openStore(config, log);
  const role = { user: 'assent_server' };
  try {
    await migrateAndTell(owner.pool, log);
    await ensureServerRole(owner.pool, role.user, { name: 'trial mode' });
    return await openTrialStore(config.dataDir, log, role);
  } finally {
    await owner.close();
  }
}

/** Loads the embedded PostgreSQL, and only here: production has none of its code. */
async function openTrialStore(dataDir: string, log: StoreLog, role = {}): Promise<Store> {
  const { joinEmbeddedPostgres, leaveEmbeddedPostgres } = await import('../trial/postgres/join.ts');
  onEnd(leaveEmbeddedPostgres); // also while joining
  const embedded = await joinEmbeddedPostgres(dataDir, (line) => log.warn(line));
  const pool = openDatabase({ ...embedded.connection, ...role });
  const close = async () => {
    await pool.end();
    await embedded.leave();
  };
  return { pool, close };
}

/** Like {@link migrate}, and logs the result or a newer schema. */
export async function migrateAndTell(pool: pg.Pool, log: StoreLog, beside = false) {
  const applied = await migrate(pool, beside);
  const { version } = await checkSchema(pool, log);
  const [first] = applied;
  if (first) log.info(`migrated the schema from version ${first.version - 1} to ${version}`);
  return applied;
}

/** Changes nothing, and logs a newer schema. @throws {OperatorError} unless it serves this build */
export async function checkSchema(pool: pg.Pool, log: StoreLog) {
  const { version, known, serves, text, remedy } = await schemaState(pool);
  if (version < known || !serves) throw new OperatorError('state', `${text}: ${remedy}`);
  if (version > known) log.warn(`${text}; this build supports the newer one`);
  return { version };
}

/** Stores a starting server's settings, for commands, and logs changes. @throws {ConfigError} for another currency */
export async function saveServerSettings(pool: pg.Pool, config: Config, log: StoreLog): Promise<void> {
  const own = settingsOf(config);
  // A first start has nothing to compare, nor has one with a setting that earlier builds did not know.
  const changed = differing(own, await findSettings(pool));
  await saveSettings(pool, own);
  const { currency } = await findSettings(pool);
  if (currency !== own.currency)
    throw new ConfigError([
      `CURRENCY is ${own.currency}, but the limits in this database are sums in ${currency}: set CURRENCY=${currency}, or use another database; see docs/operate/configuration.md#environment.`,
    ]);
  if (changed.length > 0)
    log.info(`${changed.join(' and ')} changed: restart the other servers of this database with the same`);
}

/** The mean pause between two attempts. */
const PAUSE_MS = 1_000;

/**
 * Queues all statements of unused pools until another pool has migrated its database; trial mode's owner already has.
 * @returns migrates it once it is reachable; throws errors that waiting doesn't solve
 */
export function queueUntilMigrated(queued: readonly pg.Pool[], config: Config) {
  if (config.databaseUrl === null) return async () => {};
  let noteTried = () => {};
  const tried = new Promise<void>((resolve) => {
    noteTried = resolve;
  });
  const gate: MigrationGate = { tried };
  for (const pool of queued) gateOf.set(pool, gate);
  const isMigrated = async (pool: pg.Pool, log: StoreLog) => {
    try {
      await migrateAndTell(pool, log);
      await saveServerSettings(pool, config, log);
      for (const each of queued) gateOf.delete(each);
      return true;
    } catch (error) {
      gate.cause = error instanceof MigrationError ? error.cause : error;
      if (!isTransientAtStart(gate.cause)) throw error;
      return false;
    } finally {
      noteTried();
    }
  };
  return async (log: StoreLog) => {
    const { pool, close } = await openStore(config, log);
    try {
      // Random, so that many servers do not return all at once. Meanwhile the watch reports the database.
      while (!(await isMigrated(pool, log))) await setTimeout(PAUSE_MS * (0.5 + Math.random()));
    } finally {
      void close();
    }
  };
}
