import type { FastifyInstance } from 'fastify';
import { Counter, Histogram, type Registry } from 'prom-client';

/** Seconds: from an exchange on an idle database to one that waited for a lock in vain. */
const LATENCY_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Requests by route and status, refusals by the contract's code, and how long the answers took. */
export function countRequests(app: FastifyInstance, registry: Registry): void {
  const registers = [registry];
  const requests = new Counter({
    name: 'assent_requests_total',
    help: 'Answered requests; error is the code of a refusal, empty for none.',
    labelNames: ['method', 'route', 'status', 'error'],
    registers,
  });
  const seconds = new Histogram({
    name: 'assent_request_seconds',
    help: 'Time to the answer.',
    labelNames: ['route'],
    buckets: LATENCY_BUCKETS,
    registers,
  });
  const unavailable = new Counter({
    name: 'assent_unavailable_total',
    help: 'Requests answered 503 because the database was away or more came than can be answered.',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of ['database', 'overload']) unavailable.inc({ reason }, 0);
  const faults = new Counter({
    name: 'assent_faults_total',
    help: 'Requests answered 500: a fault of ours, with its cause in the log.',
    registers,
  });
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
