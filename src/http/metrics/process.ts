import { type Aggregator, Counter, collectDefaultMetrics, type Registry } from 'prom-client';

/** Of prom-client's own, those whose names say that they are counters and that are none; others tell the same. */
const MISNAMED = [
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/**
 * What several processes are together, where prom-client's own choice would hide something: the worst of them, so that one
 * that is stuck or runs out of files isn't lost among the others, and the first start. Memory and CPU time are added.
 */
const TOGETHER: Readonly<Record<string, Aggregator>> = {
  nodejs_eventloop_lag_seconds: 'max',
  nodejs_eventloop_lag_mean_seconds: 'max',
  nodejs_eventloop_lag_stddev_seconds: 'max',
  nodejs_eventloop_lag_p50_seconds: 'max',
  nodejs_eventloop_lag_p90_seconds: 'max',
  nodejs_eventloop_lag_p99_seconds: 'max',
  process_open_fds: 'max',
  process_max_fds: 'min',
  process_start_time_seconds: 'min',
};

/**
 * The process as Node sees it.
 *
 * @returns the counter of workers' ends, for the process that starts workers; it is 0 in all others
 */
export function describeProcess(registry: Registry): Counter {
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  for (const [name, aggregator] of Object.entries(TOGETHER)) {
    Object.assign(registry.getSingleMetric(name) ?? {}, { aggregator });
  }
  return new Counter({
    name: 'assent_worker_ends_total',
    help: 'Workers that ended by themselves or could not be started; each is tried again.',
    registers: [registry],
  });
}
