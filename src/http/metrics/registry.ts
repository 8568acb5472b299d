import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Context } from '../../flows/context.ts';
import type { DatabaseWatch } from '../../flows/databaseWatch.ts';
import { countHappenings } from './happenings.ts';
import { countRequests } from './requests.ts';
import type { MetricsSource } from './route.ts';
import { describeState } from './state.ts';
import { measureTimings } from './timings.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** What this process tells Prometheus of itself. */
    readonly metrics: Registry;
    /** All that Prometheus reads here. */
    readonly metricsSource: MetricsSource;
  }
}

/** Of prom-client's own, those whose names say that they are counters and that are none; others tell the same. */
const MISNAMED = [
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/**
 * Counts and measures what this process does, for Prometheus. Labels are few and fixed (routes, codes, names of ours),
 * never what a request carried. Counters are there with 0 before the first event, so that its increase is seen.
 *
 * @param ofAll makes of them what is read, where this process is one of several
 */
export function collectMetrics(
  app: FastifyInstance,
  context: Context,
  watch: DatabaseWatch,
  ofAll: (own: Registry) => MetricsSource = (own) => own,
): void {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  countRequests(app, registry);
  const ends = [...countHappenings(registry), ...measureTimings(registry)];
  app.addHook('onClose', async () => {
    for (const end of ends) end();
  });
  describeState(app, registry, context, watch);
  app.decorate('metrics', registry);
  app.decorate('metricsSource', ofAll(registry));
}
