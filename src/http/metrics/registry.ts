import type { FastifyInstance } from 'fastify';
import { Registry } from 'prom-client';
import type { Context } from '../../flows/context.ts';
import type { DatabaseWatch } from '../../flows/databaseWatch.ts';
import { countHappenings } from './happenings.ts';
import { describeProcess } from './process.ts';
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
  describeProcess(registry);
  countRequests(app, registry);
  const ends = [...countHappenings(registry), ...measureTimings(registry)];
  app.addHook('onClose', async () => {
    for (const end of ends) end();
  });
  describeState(app, registry, context, watch);
  app.decorate('metrics', registry);
  app.decorate('metricsSource', ofAll(registry));
}
