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
export class Housekeeping {
  readonly #db: pg.Pool;
  readonly #log: Log;
  #timer: NodeJS.Timeout | undefined;
  #round = 0;
  #stopped = false;

  constructor({ db }: { readonly db: pg.Pool }, log: Log) {
    this.#db = db;
    this.#log = log;
  }

  /** The first round runs in the second minute, at a different moment on each replica. */
  start(): void {
    if (this.#stopped) return;
    const wait = this.#round === 0 ? ROUND_MS * (1 + Math.random()) : ROUND_MS;
    this.#timer = setTimeout(() => void this.keep().finally(() => this.start()), wait).unref();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** One round. Never fails; `DatabaseWatch` reports an unreachable database. */
  async keep(): Promise<void> {
    const round = this.#round++;
    try {
      const goesOn = (statements: number) => statements < MAX_STATEMENTS && !this.#stopped;
      for (const table of EXPIRING_TABLES)
        if (round % ROUNDS_AN_HOUR === 0 || !HOURLY.includes(table))
          await removeAllExpired(this.#db, table, goesOn);
      if (round % (24 * ROUNDS_AN_HOUR) === 0) await this.#prepareTrail();
    } catch (error) {
      if (whyUnavailable(error) === null)
        this.#log.warn(`could not remove expired rows: ${explainTrouble(error)}`);
    }
  }

  /** A server's role may not make partitions: it warns months before they are missing. */
  async #prepareTrail(): Promise<void> {
    for (const name of (await preparePartitions(this.#db)).done) this.#log.info(`created partition ${name}`);
    const { monthsAhead } = await findTrailFacts(this.#db);
    if (monthsAhead >= MIN_MONTHS_AHEAD) return;
    const remedy = 'run assent maintain as the owner of the tables';
    this.#log.warn(`the audit trail has partitions for only ${monthsAhead} more months: ${remedy}`);
  }
}
