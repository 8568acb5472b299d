import { timingSafeEqual } from 'node:crypto';
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Registry } from 'prom-client';
import { BOUNDS } from '../../listener/bounds.ts';
import { prepareDraining } from '../../listener/draining.ts';
import { sendJson } from '../../listener/json.ts';
import { bytesOf, sha256 } from '../../secrets/digest.ts';

/** The metrics on their own port, without other routes. Ready to listen. */
export function buildMetricsApp(registry: Registry, token: string | null, log: FastifyBaseLogger) {
  const app = fastify({
    ...BOUNDS,
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: 1,
  });
  prepareDraining(app); // for `listenAt`: it keeps the further addresses of `localhost` there
  app.server.maxConnections = 20; // Prometheus needs one, several servers a few
  app.setNotFoundHandler((_request, reply) => sendJson(reply, 404, { error: 'not_found' }));
  app.setErrorHandler((error, request, reply) => {
    request.log.error({ err: error }, 'failed to collect metrics');
    return sendJson(reply, 500, { error: 'server_error' });
  });
  metricsRoutes(app, registry, token);
  return app;
}

/** The metrics for Prometheus. @param token required of the scraper; null for none */
export function metricsRoutes(app: FastifyInstance, registry: Registry, token: string | null): void {
  app.get('/metrics', async (request, reply) => {
    // RFC 6750 section 2.1.
    const sent = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    const isSent = (wanted: string) =>
      sent !== undefined && timingSafeEqual(bytesOf(sha256(sent)), bytesOf(sha256(wanted)));
    if (token === null || isSent(token))
      return reply.header('content-type', registry.contentType).send(await registry.metrics());
    const error = 'invalid_token';
    const error_description = 'Send METRICS_TOKEN in the Authorization header, as Bearer.';
    request.logFields = { error, rule: 'missing or wrong METRICS_TOKEN', rule_id: 'wrong_metrics_token' };
    reply.header('www-authenticate', 'Bearer realm="metrics"');
    return sendJson(reply, 401, { error, error_description });
  });
}
