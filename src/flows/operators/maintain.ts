import type pg from 'pg';
import {
  EXPIRING_TABLES,
  type ExpiringTable,
  MAX_EXPIRED_AT_ONCE,
  removeExpired,
} from '../../store/expired.ts';
import { analyzeTrail, countStrays, ownsTables } from '../../store/schema/auditPartitions.ts';
import { pruneAuditPartitions } from '../../store/schema/auditPruning.ts';
import { preparePartitions } from '../../store/schema/migrate.ts';
import { listMigrations, schemaVersion } from '../../store/schema/schemaState.ts';

/** What was done. */
export interface Maintenance {
  /** Expired rows that were removed, by table. */
  readonly expired: Readonly<Record<ExpiringTable, number>>;
  /** Partitions of the trail that were made. */
  readonly made: readonly string[];
  /** Months of the trail that were dropped, as `2026-11`; none unless it was told how many to keep. */
  readonly pruned: readonly string[];
  /** Rows of the trail that belong to no month. */
  readonly strays: number;
  readonly analyzed: boolean;
  /** What there was to do and wasn't done, a sentence each. */
  readonly leftUndone: readonly string[];
}

const NOT_OWNER = 'the months of the trail: only the owner of the tables may make, drop and analyze them';
const BUSY = 'a partition of the trail: somebody reads it, most likely a backup; try again later';

/**
 * Does what a database needs from time to time. Each step is a transaction of its own, harmless beside servers and beside
 * another one of these, and finds nothing left to do when it comes again.
 *
 * @param keep months of the trail to keep; null for all
 * @throws {Error} when the schema is of another version
 */
export async function maintain(pool: pg.Pool, keep: number | null, operator: string): Promise<Maintenance> {
  const [version, known] = [await schemaVersion(pool), (await listMigrations()).length];
  if (version !== known) {
    throw new Error(
      `schema version ${version}, this build's is ${known}: run assent migrate, or the build of the servers`,
    );
  }
  const expired = await removeAllExpired(pool);
  if (!(await ownsTables(pool))) {
    return { expired, made: [], pruned: [], strays: 0, analyzed: false, leftUndone: [NOT_OWNER] };
  }
  const { made, busy } = await preparePartitions(pool);
  const pruned =
    keep === null ? { months: [], busy: false } : await pruneAuditPartitions(pool, keep, operator);
  await analyzeTrail(pool);
  const { rows: strays } = await countStrays(pool);
  const leftUndone = busy || pruned.busy ? [BUSY] : [];
  return { expired, made, pruned: pruned.months, strays, analyzed: true, leftUndone };
}

async function removeAllExpired(pool: pg.Pool): Promise<Record<ExpiringTable, number>> {
  const removed = { sessions: 0, denials: 0, refusals: 0, throttles: 0 };
  for (const table of EXPIRING_TABLES) {
    let rows: number;
    do {
      rows = await removeExpired(pool, table);
      removed[table] += rows;
    } while (rows === MAX_EXPIRED_AT_ONCE);
  }
  return removed;
}
