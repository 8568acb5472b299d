import type pg from 'pg';
import type { Context } from '../flows/common/context.ts';
import { onceAMinute } from '../signals/onceAMinute.ts';
import { gateOf } from '../store/database/database.ts';
import {
  explainTrouble,
  isConnectionLost,
  isPermanentDatabaseError,
  nameTrouble,
} from '../store/database/errors.ts';
import { checkWritable } from '../store/schema/health.ts';

/** A database with a slower simplest query serves no request in time either. */
const LATE_MS = 2_000;
const LATE = `no answer within ${LATE_MS / 1000} seconds`;
/** Between two checks during an outage. */
const PAUSE_MS = 1_000;
/** Readiness checks within this time share one query. */
const READY_MS = 1_000;

type WatchLog = Record<'error' | 'warn', (details: object, message: string) => void>;

/** From the first error until the database responds. */
interface Trouble {
  readonly since: number;
  readonly cause: unknown;
  /** Requests answered 503 meanwhile. */
  refused: number;
  /** The error logged when the database became unreachable; undefined before that. */
  reported?: unknown;
}

/** Logs an outage of the database once, and its end once. Idle until an error, which proves nothing yet: it checks. */
export class DatabaseWatch {
  readonly #db: pg.Pool;
  readonly #log: WatchLog;
  #trouble: Trouble | undefined;
  #check: Promise<boolean> | undefined;
  #last = { isReady: false, at: Number.NEGATIVE_INFINITY };
  #next: NodeJS.Timeout | undefined;
  #stopped = false;
  /** Logs a passed trouble, by its name. */
  readonly #warn = onceAMinute((_name, cause: unknown) => {
    this.#log.warn({ reason: explainTrouble(cause) }, 'a database error, but the database responds');
  });

  constructor({ db }: Context, log: WatchLog) {
    this.#db = db;
    this.#log = log;
    db.on('error', this.noteError); // an idle connection broke
  }

  /** False while the log reports the database as unreachable. */
  get isUp(): boolean {
    return this.#trouble?.reported === undefined;
  }

  /** Notes a database error. @returns a short description for the request's log line */
  readonly noteError = (error: unknown): string => {
    if (this.#trouble === undefined && !this.#stopped) {
      this.#trouble = begin(error);
      void this.check();
    }
    return nameTrouble(error);
  };

  countRefused(): void {
    if (this.#trouble !== undefined) this.#trouble.refused += 1;
  }

  /** Checks that the database works, one check at a time. @returns false also if it is late */
  check(): Promise<boolean> {
    this.#check ??= this.#checkNow();
    const late = new Promise<false>((resolve) => setTimeout(resolve, LATE_MS, false).unref());
    return Promise.race([this.#check, late]);
  }

  /** Like {@link check}; a result is valid for a second. */
  async isReady(): Promise<boolean> {
    const isFresh = this.#check === undefined && performance.now() - this.#last.at < READY_MS;
    return isFresh ? this.#last.isReady : this.check();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#next);
    this.#db.off('error', this.noteError);
  }

  async #checkNow(): Promise<boolean> {
    clearTimeout(this.#next); // a health check may come first
    const gate = gateOf.get(this.#db);
    if (gate !== undefined) await gate.tried; // a migration at the start may take long: no fault of the database
    // Started before that of `check`, so the log and the metrics tell an outage before a readiness check does.
    const late = setTimeout(() => this.#isAway(this.#trouble?.cause ?? new Error(LATE)), LATE_MS).unref();
    try {
      await this.#checkWritable();
      this.#isBack();
      this.#last = { isReady: true, at: performance.now() };
      return true;
    } catch (error) {
      this.#isAway(error);
      this.#last = { isReady: false, at: performance.now() };
      if (!this.#stopped) this.#next = setTimeout(() => void this.check(), PAUSE_MS).unref();
      return false;
    } finally {
      clearTimeout(late);
      this.#check = undefined;
    }
  }

  /** Idle connections may have broken all at once: each is tried and closed, until a new one decides. */
  async #checkWritable(): Promise<void> {
    for (let unused = this.#db.idleCount; ; unused -= 1) {
      try {
        return await checkWritable(this.#db);
      } catch (error) {
        if (unused === 0 || !isConnectionLost(error)) throw error;
      }
    }
  }

  #isAway(error: unknown): void {
    if (this.#stopped) return;
    this.#trouble ??= begin(error);
    const { reported } = this.#trouble;
    const reason = explainTrouble(error);
    if (reported === undefined) this.#log.error({ reason }, 'the database is unreachable');
    // The database may return as something else, such as a standby, which waiting doesn't solve.
    else if (isPermanentDatabaseError(error) && nameTrouble(error) !== nameTrouble(reported))
      this.#log.error({ reason }, 'the database is still unreachable');
    else return;
    this.#trouble.reported = error;
  }

  #isBack(): void {
    const trouble = this.#trouble;
    this.#trouble = undefined;
    if (trouble === undefined) return;
    if (trouble.reported === undefined) this.#warn(nameTrouble(trouble.cause), trouble.cause);
    else {
      const away_seconds = Math.round((performance.now() - trouble.since) / 100) / 10;
      this.#log.warn({ away_seconds, refused: trouble.refused }, 'the database is reachable again');
    }
  }
}

function begin(cause: unknown): Trouble {
  return { since: performance.now(), cause, refused: 0 };
}
