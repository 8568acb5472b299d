import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { DatabaseWatch } from '../../flows/databaseWatch.ts';

/** Seconds: from an exchange on an idle database to one that waited for a lock in vain. */
const LATENCY_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/**
 * Counts what the server does, for Prometheus: requests by route and status, refusals by the contract's code, latencies,
 * whether the database is there, and the process. Labels are routes and codes only, never what a request carried.
 */
export function countRequests(app: FastifyInstance, watch: DatabaseWatch): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: 'assent_requests_total',
    help: 'Answered requests; error is the code of a refusal, empty for none.',
    labelNames: ['method', 'route', 'status', 'error'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'assent_request_seconds',
    help: 'Time to the answer.',
    labelNames: ['route'],
    buckets: LATENCY_BUCKETS,
    registers: [registry],
  });
  const unavailable = new Counter({
    name: 'assent_unavailable_total',
    help: 'Requests answered 503 because the database was away or more came than can be answered.',
    labelNames: ['reason'],
    registers: [registry],
  });
  for (const reason of ['database', 'overload']) unavailable.inc({ reason }, 0); // there before the first one
  new Gauge({
    name: 'assent_database_up',
    help: '0 while the database is away, as the log says it; otherwise 1.',
    registers: [registry],
    collect() {
      this.set(watch.isUp ? 1 : 0);
    },
  });

  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    const error = request.logFields?.error ?? '';
    requests.inc({ method: request.method, route, status: reply.statusCode, error });
    if (request.unavailable !== null) unavailable.inc({ reason: request.unavailable });
    seconds.observe({ route }, reply.elapsedTime / 1000);
    done();
  });
  return registry;
}

/** The metrics, to be read by Prometheus. */
export function metricsRoutes(app: FastifyInstance, registry: Registry): void {
  app.get('/metrics', async (_request, reply) =>
    reply.header('content-type', registry.contentType).send(await registry.metrics()),
  );
}
