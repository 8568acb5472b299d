import type { FastifyInstance } from 'fastify';
import type { Metrics } from './metrics.ts';

/** Seconds: from an exchange on an idle database to one that waited for a lock in vain. */
const LATENCY_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Requests by route and status, refusals by the contract's code, and response times. */
export function countRequests(app: FastifyInstance, metrics: Metrics): void {
  const requests = metrics.counter('assent_requests_total', { method: [], route: [], status: [], error: [] });
  const seconds = metrics.histogram('assent_request_seconds', { route: [] }, LATENCY_BUCKETS);
  const unavailable = metrics.counter('assent_unavailable_total', {
    reason: ['database', 'overload', 'provider'],
  });
  const faults = metrics.counter('assent_faults_total');
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    const error = request.logFields?.error ?? '';
    requests.inc({ method: request.method, route, status: reply.statusCode, error });
    if (reply.statusCode === 500) faults.inc();
    if (request.unavailable !== null) unavailable.inc({ reason: request.unavailable });
    seconds.observe({ route }, reply.elapsedTime / 1000);
    done();
  });
}
