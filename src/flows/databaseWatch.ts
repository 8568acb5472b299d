import type pg from 'pg';
import { isConnectionLost } from '../store/errors.ts';
import { explainTrouble, isRefusal, nameTrouble } from '../store/errorTexts.ts';
import { checkTables } from '../store/health.ts';
import type { Context } from './context.ts';

/** A database that takes longer for the simplest question serves no request in time either. */
const LATE_MS = 2_000;
/** Between two questions while it is away. */
const PAUSE_MS = 1_000;
/** However many callers ask whether it is ready, the database is asked once in this time. */
const READY_MS = 1_000;
/** A trouble that passes and comes back has one line in this time. */
const SAME_WARNING_MS = 60_000;

/** Where the watch says what it sees. */
interface WatchLog {
  error(details: object, message: string): void;
  warn(details: object, message: string): void;
}

/** From the first error until the database answers. */
interface Trouble {
  readonly since: number;
  readonly cause: unknown;
  /** Requests that were answered 503 meanwhile. */
  refused: number;
  /** Why the database is away, as the log has it; undefined until that is known. */
  said?: unknown;
}

/**
 * Says once that the database is away and once that it is back, however many requests fail between. It is told of
 * errors and then asks the database by itself: a statement that failed or a connection that broke does not mean that
 * the database is away. While all is well it does nothing.
 */
export class DatabaseWatch {
  readonly #db: pg.Pool;
  readonly #log: WatchLog;
  #trouble: Trouble | undefined;
  #question: Promise<boolean> | undefined;
  /** What came of the last question, and when. */
  #answer = { isReady: false, at: Number.NEGATIVE_INFINITY };
  #next: NodeJS.Timeout | undefined;
  #stopped = false;
  /** When the log last had a trouble that passed, by its name. */
  readonly #warned = new Map<string, number>();

  constructor({ db }: Context, log: WatchLog) {
    this.#db = db;
    this.#log = log;
    db.on('error', this.note); // an idle connection broke
  }

  /** Whether the database can do its work, as far as is known without asking it. */
  get isUp(): boolean {
    return this.#trouble?.said === undefined;
  }

  /** Takes note of an error that the database caused. @returns a few words on it, for the request's log line */
  readonly note = (error: unknown): string => {
    if (this.#trouble === undefined && !this.#stopped) {
      this.#trouble = begin(error);
      void this.ask();
    }
    return nameTrouble(error);
  };

  /** Counts a request that was answered 503. */
  countRefused(): void {
    if (this.#trouble !== undefined) this.#trouble.refused += 1;
  }

  /** Asks the database whether it can do its work, one question at a time. @returns false also when it is late */
  ask(): Promise<boolean> {
    this.#question ??= this.#ask();
    const late = new Promise<false>((resolve) => setTimeout(resolve, LATE_MS, false).unref());
    return Promise.race([this.#question, late]);
  }

  /** Whether the database can do its work, as of a second ago at most. @returns false also when it is late */
  async isReady(): Promise<boolean> {
    const isFresh = this.#question === undefined && performance.now() - this.#answer.at < READY_MS;
    return isFresh ? this.#answer.isReady : this.ask();
  }

  /** From now on it asks nothing by itself and does not say that the database is away. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#next);
    this.#db.off('error', this.note);
  }

  async #ask(): Promise<boolean> {
    clearTimeout(this.#next); // a health check asked before it was time
    const late = setTimeout(() => this.#isAway(this.#trouble?.cause ?? new Error(LATE)), LATE_MS).unref();
    try {
      await this.#check();
      this.#isBack();
      this.#answer = { isReady: true, at: performance.now() };
      return true;
    } catch (error) {
      this.#isAway(error);
      this.#answer = { isReady: false, at: performance.now() };
      if (!this.#stopped) this.#next = setTimeout(() => void this.ask(), PAUSE_MS).unref();
      return false;
    } finally {
      clearTimeout(late);
      this.#question = undefined;
    }
  }

  /** Idle connections may have broken all at once: each is given up in its turn, until a new one decides. */
  async #check(): Promise<void> {
    for (let unused = this.#db.idleCount; ; unused -= 1) {
      try {
        return await checkTables(this.#db);
      } catch (error) {
        if (unused === 0 || !isConnectionLost(error)) throw error;
      }
    }
  }

  #isAway(error: unknown): void {
    if (this.#stopped) return;
    this.#trouble ??= begin(error);
    const { said } = this.#trouble;
    const reason = explainTrouble(error);
    if (said === undefined) this.#log.error({ reason }, 'the database is away');
    // It may come back as something else, a standby for example, and that does not pass by waiting.
    else if (isRefusal(error) && nameTrouble(error) !== nameTrouble(said))
      this.#log.error({ reason }, 'the database is still away');
    else return;
    this.#trouble.said = error;
  }

  #isBack(): void {
    const trouble = this.#trouble;
    this.#trouble = undefined;
    if (trouble === undefined) return;
    if (trouble.said === undefined) this.#warnOf(trouble);
    else {
      const away_seconds = Math.round((performance.now() - trouble.since) / 100) / 10;
      this.#log.warn({ away_seconds, refused: trouble.refused }, 'the database is back');
    }
  }

  #warnOf(trouble: Trouble): void {
    const name = nameTrouble(trouble.cause);
    const warned = this.#warned.get(name);
    if (warned !== undefined && trouble.since - warned < SAME_WARNING_MS) return;
    this.#warned.set(name, trouble.since);
    this.#log.warn({ reason: explainTrouble(trouble.cause) }, 'the database failed once, and answers');
  }
}

const LATE = `no answer within ${LATE_MS / 1000} seconds`;

function begin(cause: unknown): Trouble {
  return { since: performance.now(), cause, refused: 0 };
}
