import type { Worker } from 'node:cluster';
import { AggregatorRegistry, type MetricObject, Registry } from 'prom-client';
import { describeProcess } from './http/metrics/process.ts';
import type { MetricsSource } from './http/metrics/route.ts';

// With WORKERS whoever reads /metrics comes to one of the processes, and is told of all: the worker asks the primary process,
// which asks each worker, and the worker that was asked sums.

/** What one process tells of itself. */
type Told = readonly MetricObject[];

/** What the processes send each other about metrics. */
type Message =
  | { readonly metrics: 'wanted of all' | 'wanted of you' }
  | { readonly metrics: 'told'; readonly told: Told }
  | { readonly metrics: 'told of all'; readonly all: readonly Told[] };

/** A worker that takes longer stands in the sum with what it told last. */
const TELL_MS = 1_000;

/**
 * In the primary process: gathers what the workers tell, and keeps the counters of those that ended, so that no sum falls.
 * It tells of itself as well: of its own memory, and how many workers ended.
 */
export class MetricsRelay {
  readonly #own = new Registry();
  readonly #ends = describeProcess(this.#own);
  readonly #last = new Map<Worker, Told>();
  readonly #awaited = new Map<Worker, (() => void)[]>();
  #ended: Told = [];

  add(worker: Worker): void {
    this.#last.set(worker, []);
    worker.on('message', (message: Message) => {
      if (message.metrics === 'wanted of all') void this.#answer(worker);
      if (message.metrics === 'told') this.#note(worker, message.told);
    });
    worker.once('exit', () => this.#keep(worker));
  }

  /** Counts a worker that ended by itself, or could not be started. */
  countEnd(): void {
    this.#ends.inc();
  }

  async #answer(asking: Worker): Promise<void> {
    await Promise.all([...this.#last.keys()].map((worker) => this.#ask(worker)));
    const own = await this.#own.getMetricsAsJSON();
    send(asking, { metrics: 'told of all', all: [...this.#last.values(), this.#ended, own] });
  }

  #ask(worker: Worker): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited.set(worker, [...(this.#awaited.get(worker) ?? []), resolve]);
      setTimeout(resolve, TELL_MS).unref();
      send(worker, { metrics: 'wanted of you' });
    });
  }

  #note(worker: Worker, told: Told): void {
    this.#last.set(worker, told);
    for (const resolve of this.#awaited.get(worker) ?? []) resolve();
    this.#awaited.delete(worker);
  }

  /** At once, so that whoever reads meanwhile, or when two end together, misses nothing. */
  #keep(worker: Worker): void {
    const last = this.#last.get(worker) ?? [];
    this.#note(worker, last);
    this.#last.delete(worker);
    const counters = last.filter(({ type }) => COUNTING.includes(String(type)));
    this.#ended = sum([this.#ended, counters]).getMetricsAsArray();
  }
}

const COUNTING = ['counter', 'histogram'];

/** In a worker: tells the primary process what it asks, and whoever reads the metrics what all workers told. */
export function metricsOfAll(own: Registry): MetricsSource {
  let readers: ((all: readonly Told[]) => void)[] = [];
  process.on('message', async (message: Message) => {
    if (message.metrics === 'wanted of you') tell({ metrics: 'told', told: await own.getMetricsAsJSON() });
    if (message.metrics !== 'told of all') return;
    for (const read of readers) read(message.all);
    readers = [];
  });
  return {
    contentType: own.contentType,
    async metrics() {
      const all = await new Promise<readonly Told[]>((resolve) => {
        readers.push(resolve);
        tell({ metrics: 'wanted of all' });
      });
      return sum(all).metrics();
    },
  };
}

function sum(all: readonly Told[]): Registry {
  return AggregatorRegistry.aggregate([...all] as object[]);
}

/** A message that doesn't arrive is no error: whom it was for has just ended, and is about to be noticed. */
const ignoreLoss = (): void => {};

function send(worker: Worker, message: Message): void {
  if (worker.isConnected()) worker.send(message, ignoreLoss);
}

function tell(message: Message): void {
  process.send?.(message, ignoreLoss);
}
