import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { closeBeforeEnd, end } from './ending.ts';
import { MetricsRelay } from './workerMetrics.ts';

// With WORKERS several processes serve at one address. The primary process only starts them, takes their connections in
// turn to them, and ends them: each is a whole server. They share nothing but the database.

/** Between the death of a worker and its successor: doubled with each that did not live long, up to the last. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
const LONG_MS = 60_000;

/** What a worker sends when it has started. */
const STARTED = 'started';

/** A place for a worker: the first one also has what there is to be once, such as the demo application. */
interface Slot {
  readonly number: number;
  worker?: Worker;
  /** How many workers died here, one soon after the other. */
  deaths: number;
}

/**
 * Starts the workers, and others for those that die, until a signal. The first one alone goes ahead: what keeps it from
 * starting is said once, and ends all.
 */
export function superviseWorkers({ workers, drainMs }: Config, log: Logger): void {
  const slots = Array.from({ length: workers }, (_, index): Slot => ({ number: index + 1, deaths: 0 }));
  const supervisor = new Supervisor(slots, log);
  closeBeforeEnd(async (cause) => (await supervisor.stop()) && cause !== 'error', drainMs);
  supervisor.start();
}

class Supervisor {
  readonly #slots: readonly Slot[];
  readonly #log: Logger;
  /** The workers that have started, the dead ones too. */
  readonly #started = new Set<Worker>();
  readonly #metrics = new MetricsRelay();
  #stopping = false;

  constructor(slots: readonly Slot[], log: Logger) {
    this.#slots = slots;
    this.#log = log;
  }

  start(): void {
    const [first] = this.#slots;
    if (first !== undefined) this.#fork(first);
  }

  /** Has each worker drain and end. @returns whether those that had started did so in order, and some had */
  async stop(): Promise<boolean> {
    this.#stopping = true;
    const living = this.#slots.flatMap(({ worker }) => (worker?.isDead() === false ? [worker] : []));
    const ends = living.map(async (worker) => {
      const [code] = await once(worker, 'exit');
      return code === 0 || !this.#started.has(worker);
    });
    for (const worker of living) worker.process.kill('SIGTERM');
    return (await Promise.all(ends)).every(Boolean) && this.#started.size > 0;
  }

  #fork(slot: Slot): void {
    if (this.#stopping) return;
    const since = performance.now();
    const worker = cluster.fork({ ASSENT_WORKER: slot.number });
    slot.worker = worker;
    this.#metrics.add(worker);
    worker.on('message', (message) => {
      if (message === STARTED) this.#noteStarted(worker);
    });
    worker.once('exit', (code, signal) => {
      if (this.#stopping) return;
      if (this.#started.size === 0 && signal === null) {
        end('error'); // it has said why it can't start
        return;
      }
      slot.deaths = performance.now() - since > LONG_MS ? 1 : slot.deaths + 1;
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (slot.deaths - 1), MAX_PAUSE_MS);
      const details = { worker: slot.number, code, signal, pause_ms: pauseMs };
      this.#log.error(details, 'a worker ended by itself: another is started');
      setTimeout(() => this.#fork(slot), pauseMs);
    });
  }

  #noteStarted(worker: Worker): void {
    this.#started.add(worker);
    if (this.#started.size > 1) return;
    for (const slot of this.#slots.slice(1)) this.#fork(slot);
  }
}

/** Tells the primary process, if there is one, that this worker has started. */
export function tellStarted(): void {
  process.send?.(STARTED);
}

/** Lets a worker that can't start end by itself: its channel to the primary would keep it running. */
export function leaveWorkers(): void {
  cluster.worker?.disconnect();
}
