import type pg from 'pg';
import { whyUnavailable } from '../flows/common/unavailable.ts';
import { EXPIRING_TABLES, type ExpiringTable, removeAllExpired } from '../store/common/expired.ts';
import { explainTrouble } from '../store/database/errors.ts';
import { findTrailFacts, MIN_MONTHS_AHEAD, preparePartitions } from '../store/schema/auditPartitions.ts';

const ROUND_MS = 60_000;
const ROUNDS_AN_HOUR = 60;
/** Others are cleaned in each round. These have a fixed number of rows and are read completely. */
const HOURLY: readonly ExpiringTable[] = ['refusals', 'throttles'];
/** Statements for one table in one round: bounds its work; the rest waits for the next. */
const MAX_STATEMENTS = 20;

type Log = Record<'info' | 'warn', (text: string) => void>;

/** Removes expired rows and makes partitions of the audit trail, one replica at a time. Later rounds make up for a failed one. */
export function prepareHousekeeping({ db }: { readonly db: pg.Pool }, log: Log) {
  let timer: NodeJS.Timeout | undefined;
  let rounds = 0;
  let stopped = false;
  const goesOn = (statements: number) => statements < MAX_STATEMENTS && !stopped;
  /** One round. Never fails; `DatabaseWatch` reports an unreachable database. */
  const keep = async () => {
    const round = rounds++;
    try {
      for (const table of EXPIRING_TABLES)
        if (round % ROUNDS_AN_HOUR === 0 || !HOURLY.includes(table))
          await removeAllExpired(db, table, goesOn);
      if (round % (24 * ROUNDS_AN_HOUR) === 0) await prepareTrail(db, log);
    } catch (error) {
      if (whyUnavailable(error) === null) log.warn(`could not remove expired rows: ${explainTrouble(error)}`);
    }
  };
  /** The first round runs in the second minute, at a different moment on each replica. */
  const start = () => {
    if (stopped) return;
    const wait = rounds === 0 ? ROUND_MS * (1 + Math.random()) : ROUND_MS;
    timer = setTimeout(() => void keep().finally(start), wait).unref();
  };
  const stop = () => {
    stopped = true;
    clearTimeout(timer);
  };
  return { keep, start, stop };
}

/** A server's role may not make partitions: it warns months before they are missing. */
async function prepareTrail(db: pg.Pool, log: Log): Promise<void> {
  for (const name of (await preparePartitions(db)).done) log.info(`created partition ${name}`);
  const { monthsAhead } = await findTrailFacts(db);
  if (monthsAhead >= MIN_MONTHS_AHEAD) return;
  const remedy = 'run assent maintain as the owner of the tables';
  log.warn(`the audit trail has partitions for only ${monthsAhead} more months: ${remedy}`);
}
