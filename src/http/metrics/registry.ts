import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics } from 'prom-client';
import type { Context } from '../../flows/common/context.ts';
import type { DatabaseWatch } from '../../watch/databaseWatch.ts';
import { countHappenings } from './happenings.ts';
import { Metrics } from './metrics.ts';
import { countRequests } from './requests.ts';
import { describeState } from './state.ts';
import { measureBatches, measurePasswords, timeStatements } from './timings.ts';

/** Default metrics of prom-client to remove: gauges with a counter's name, and their duplicates. */
const MISNAMED = /^nodejs_active_(?!resources$)/;

/** Counts and measures this process for Prometheus. Labels are few and fixed, never taken from a request. */
export function collectMetrics(app: FastifyInstance, context: Context, watch: DatabaseWatch): void {
  const metrics = new Metrics();
  const { registry } = metrics;
  collectDefaultMetrics({ register: registry });
  for (const { name } of registry.getMetricsAsArray())
    if (MISNAMED.test(name)) registry.removeSingleMetric(name);
  countRequests(app, metrics);
  countHappenings(metrics);
  timeStatements(metrics);
  measureBatches(metrics);
  measurePasswords(metrics);
  app.addHook('onClose', async () => metrics.stopListening());
  describeState(app, metrics, context, watch);
  app.decorate('metrics', registry);
}
