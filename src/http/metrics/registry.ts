import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, type Registry } from 'prom-client';
import type { Context } from '../../flows/common/context.ts';
import type { DatabaseWatch } from '../../watch/databaseWatch.ts';
import { countHappenings } from './happenings.ts';
import { Metrics } from './metrics.ts';
import { countRequests } from './requests.ts';
import { describeState } from './state.ts';
import { measureTimings } from './timings.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly metrics: Registry;
  }
}

/** Default metrics of prom-client to remove: gauges with a counter's name, and their duplicates. */
const MISNAMED = [
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Counts and measures this process for Prometheus. Labels are few and fixed, never taken from a request. */
export function collectMetrics(app: FastifyInstance, context: Context, watch: DatabaseWatch): void {
  const metrics = new Metrics();
  const { registry } = metrics;
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  countRequests(app, metrics);
  const ends = [countHappenings(metrics), ...measureTimings(metrics)];
  app.addHook('onClose', async () => {
    for (const end of ends) end();
  });
  describeState(app, metrics, context, watch);
  app.decorate('metrics', registry);
}
