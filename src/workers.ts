import cluster, { type Worker } from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { closeBeforeEnd, end } from './ending.ts';
import { MetricsRelay } from './workerMetrics.ts';

// With WORKERS several processes serve at one address. The primary process only starts them, takes their connections in
// turn to them, and ends them: each is a whole server. They share nothing but the database.

/** This build's own: a link by which it was called may lead to another one by now. */
const COMMAND = fileURLToPath(new URL('../bin/assent.js', import.meta.url));

/** Between the death of a worker and its successor: doubled with each that did not live long, up to the last. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
const LONG_MS = 60_000;

/** What a worker sends when it has started. */
const STARTED = 'started';

const ENDED = 'a worker ended by itself: another is started';
const NEVER_WAS = 'a worker could not be started: it is tried again';

/** A place for a worker: the first one also has what there is to be once, such as the demo application. */
interface Slot {
  readonly number: number;
  worker?: Worker;
  /** How many workers died here, one soon after the other. */
  deaths: number;
}

/** How a worker ended, or why there is none: no memory, no process or file left to be had. */
type End = { readonly code: number | null; readonly signal: NodeJS.Signals | null } | { readonly err: Error };

/**
 * Starts the workers, and others for those that die, until a signal. The first one alone goes ahead: what keeps it from
 * starting is said once, and ends all.
 */
export function superviseWorkers({ workers, drainMs }: Config, log: Logger): void {
  const slots = Array.from({ length: workers }, (_, index): Slot => ({ number: index + 1, deaths: 0 }));
  const supervisor = new Supervisor(slots, log);
  closeBeforeEnd(async (cause) => (await supervisor.stop()) && cause !== 'error', drainMs);
  cluster.setupPrimary({ exec: COMMAND });
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
      const code = await new Promise((resolve) => worker.once('exit', resolve));
      return code === 0 || !this.#started.has(worker);
    });
    for (const worker of living) worker.process.kill('SIGTERM');
    return (await Promise.all(ends)).every(Boolean) && this.#started.size > 0;
  }

  #fork(slot: Slot): void {
    if (this.#stopping) return;
    const since = performance.now();
    const noteEnd = (how: End) => this.#noteEnd(slot, how, performance.now() - since);
    try {
      const worker = cluster.fork({ ASSENT_WORKER: slot.number });
      endOf(worker).then(noteEnd);
      if (!isThere(worker)) return;
      slot.worker = worker;
      this.#metrics.add(worker);
      worker.on('message', (message) => {
        if (message === STARTED) this.#noteStarted(worker);
      });
    } catch (error) {
      noteEnd({ err: error as Error });
    }
  }

  #noteEnd(slot: Slot, how: End, livedMs: number): void {
    if (this.#stopping) return;
    const neverWas = 'err' in how;
    if (this.#started.size === 0 && (neverWas || how.signal === null)) {
      if (neverWas) this.#log.fatal(how, 'no worker can be started');
      end('error'); // one that was has said itself why it can't start
      return;
    }
    this.#metrics.countEnd();
    slot.deaths = livedMs > LONG_MS ? 1 : slot.deaths + 1;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (slot.deaths - 1), MAX_PAUSE_MS);
    this.#log.error({ worker: slot.number, ...how, pause_ms: pauseMs }, neverWas ? NEVER_WAS : ENDED);
    setTimeout(() => this.#fork(slot), pauseMs);
  }

  #noteStarted(worker: Worker): void {
    this.#started.add(worker);
    if (this.#started.size > 1) return;
    for (const slot of this.#slots.slice(1)) this.#fork(slot);
  }
}

/** Whether there is a process: Node says what kept it from being one only afterwards. */
const isThere = ({ process: { pid } }: Worker): boolean => pid !== undefined;

function endOf(worker: Worker): Promise<End> {
  return new Promise((resolve) => {
    worker.once('exit', (code, signal) => resolve({ code, signal: signal as NodeJS.Signals | null }));
    worker.on('error', (err) => {
      if (isThere(worker)) return; // a message to one that has just ended was lost: its exit follows
      forget(worker);
      resolve({ err });
    });
  });
}

/** Node keeps a worker that never was among its own, some with half a channel. */
function forget({ id, process: child }: Worker): void {
  if (child.connected) child.disconnect();
  else delete cluster.workers?.[id];
}

/** Tells the primary process, if there is one, that this worker has started. */
export function tellStarted(): void {
  process.send?.(STARTED);
}

/** Lets a worker that can't start end by itself: its channel to the primary would keep it running. */
export function leaveWorkers(): void {
  cluster.worker?.disconnect();
}
