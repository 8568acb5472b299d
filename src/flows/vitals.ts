import type pg from 'pg';
import { waitingChecks } from '../secrets/password.ts';
import type { Lane } from '../signals/timings.ts';
import { BATCHES } from '../store/database/batch.ts';
import { STATEMENTS } from '../store/database/statement.ts';
import { monthsAhead } from '../store/schema/auditPartitions.ts';
import { schemaVersion } from '../store/schema/schemaState.ts';
import type { Context } from './context.ts';

// What the metrics ask for when they are read. All but the rare facts is known to this process.

/** How the connections of a pool are, at this moment. */
export interface PoolState {
  readonly max: number;
  readonly open: number;
  readonly idle: number;
  /** Statements that wait for a connection. */
  readonly waiting: number;
}

/** The pools by their names. */
export function poolsOf({ db }: Context): Readonly<Record<string, PoolState>> {
  return { primary: stateOf(db) };
}

function stateOf({ options, totalCount, idleCount, waitingCount }: pg.Pool): PoolState {
  return { max: options.max ?? 0, open: totalCount, idle: idleCount, waiting: waitingCount };
}

/** How many passwords wait for their check. */
export const waitingPasswords = (lane: Lane): number => waitingChecks(lane);

/** The names of everything that is timed. */
export const timedNames = () => ({ statements: [...STATEMENTS], batches: [...BATCHES] });

/** What the database says of itself, and what changes by a migration or with the month. */
interface Facts {
  readonly schemaVersion: number;
  /** For how many months from now on the audit trail has partitions. */
  readonly auditMonthsAhead: number;
}

const FACTS_GOOD_MS = 10 * 60_000;
const FACTS_RETRY_MS = 60_000;

/** Facts that are asked rarely. Who wants them gets the last ones at once; they are asked anew meanwhile when they are old. */
export class RareFacts {
  readonly #db: pg.Pool;
  #last: Facts | null = null;
  #nextAt = Number.NEGATIVE_INFINITY;

  constructor({ db }: Context) {
    this.#db = db;
  }

  /** Null until the database has answered. */
  get last(): Facts | null {
    if (performance.now() >= this.#nextAt) {
      this.#nextAt = performance.now() + FACTS_RETRY_MS;
      void this.#ask();
    }
    return this.#last;
  }

  /** While the database is away the last facts stay: what is away is told elsewhere. */
  async #ask(): Promise<void> {
    try {
      const [version, months] = await Promise.all([schemaVersion(this.#db), monthsAhead(this.#db)]);
      this.#last = { schemaVersion: version, auditMonthsAhead: months };
      this.#nextAt = performance.now() + FACTS_GOOD_MS;
    } catch {
      // Asked again after the pause.
    }
  }
}
