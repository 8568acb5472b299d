import { explainUnfit, type Standby, UnfitStandbyError } from '../store/database/standby.ts';

/** Between two checks of a standby that is not in use: one that was only behind is soon back. */
const PAUSE_MS = 250;
/** A standby that is out of use for longer is reported. */
const REPORT_MS = 1_000;
/** A trouble that passes before and comes back is logged once in this time. */
const SAME_WARNING_MS = 60_000;

type StandbyLog = Record<'error' | 'warn', (details: object, message: string) => void>;

/** The standbys that introspection may ask, in turn; those that can't answer are passed over until they can. */
export class Standbys {
  /** Whether no answer is older than its question: then a token that a standby does not know is unknown. */
  readonly areStrict: boolean;
  readonly #watches: readonly StandbyWatch[];
  #turn = 0;

  constructor(standbys: readonly Standby[], log: StandbyLog) {
    this.areStrict = standbys.every(({ positions }) => positions.lagMs === 0);
    this.#watches = standbys.map((standby) => new StandbyWatch(standby, log));
  }

  /** How many can answer now. */
  get inUse(): number {
    return this.#watches.filter(({ standby }) => standby.isInUse).length;
  }

  /** The next one that can answer; null for none. */
  choose(): Standby | null {
    for (let left = this.#watches.length; left > 0; left -= 1) {
      this.#turn = (this.#turn + 1) % this.#watches.length;
      const standby = this.#watches[this.#turn]?.standby;
      if (standby?.isInUse) return standby;
    }
    return null;
  }

  /** Uses a standby no more until it can answer. @returns null @throws the error, where it is not the standby's */
  passOver(standby: Standby, error: unknown): null {
    if (!(error instanceof UnfitStandbyError)) throw error;
    if (standby.isInUse) this.#watches.find((watch) => watch.standby === standby)?.takeOut(error);
    return null;
  }

  /** Checks each, so that those that can answer are used. */
  start(): void {
    for (const watch of this.#watches) watch.start();
  }

  /** Ends the checks. */
  stop(): void {
    for (const watch of this.#watches) watch.stop();
  }
}

/** Since when a standby is out of use. */
interface Trouble {
  readonly since: number;
  readonly isReported: boolean;
  readonly error: unknown;
}

/** Takes one standby out of use and back, and logs both once. */
class StandbyWatch {
  readonly standby: Standby;
  readonly #log: StandbyLog;
  #trouble: Trouble | undefined;
  #next: NodeJS.Timeout | undefined;
  #stopped = false;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(standby: Standby, log: StandbyLog) {
    this.standby = standby;
    this.#log = log;
  }

  start(): void {
    void this.#check();
  }

  stop(): void {
    this.#stopped = true;
    this.standby.isInUse = false;
    clearTimeout(this.#next);
  }

  takeOut(error: unknown): void {
    this.standby.isInUse = false;
    this.#trouble = { since: performance.now(), isReported: false, error };
    void this.#check();
  }

  async #check(): Promise<void> {
    const error = await this.standby.check().then(
      () => null,
      (reason: unknown) => reason,
    );
    if (this.#stopped) return;
    if (error === null) return this.#isBack();
    // Where the primary could not be asked nothing is known of the standby, and the log says so elsewhere.
    if (error instanceof UnfitStandbyError) this.#isAway(error);
    this.#next = setTimeout(() => void this.#check(), PAUSE_MS).unref();
  }

  #isAway(error: unknown): void {
    const { since, isReported } = this.#trouble ?? { since: performance.now(), isReported: false };
    const report = !isReported && performance.now() - since >= REPORT_MS;
    this.#trouble = { since, isReported: isReported || report, error };
    if (report) this.#log.error({ ...this.#describe(error) }, 'a standby is away');
  }

  #isBack(): void {
    const trouble = this.#trouble;
    this.#trouble = undefined;
    this.standby.isInUse = true;
    if (trouble === undefined) return;
    const now = performance.now();
    if (trouble.isReported) {
      const away_seconds = Math.round((now - trouble.since) / 100) / 10;
      this.#log.warn({ standby: this.standby.name, away_seconds }, 'a standby is back');
    } else if (now - this.#warnedAt >= SAME_WARNING_MS) {
      this.#warnedAt = now;
      this.#log.warn(this.#describe(trouble.error), 'a standby was passed over, and answers');
    }
  }

  #describe(error: unknown): object {
    return { standby: this.standby.name, reason: explainUnfit(error) };
  }
}
