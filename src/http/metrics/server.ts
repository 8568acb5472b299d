import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Registry } from 'prom-client';
import { BOUNDS } from '../connections/bounds.ts';
import { prepareDraining } from '../connections/draining.ts';
import { sendJson } from '../request/json.ts';
import { metricsRoutes } from './route.ts';

/** Prometheus needs one, several servers a few. */
const MAX_CONNECTIONS = 20;

/** The metrics on their own port, without other routes. Ready to listen. */
export function buildMetricsApp(
  registry: Registry,
  token: string | null,
  log: FastifyBaseLogger,
): FastifyInstance {
  const app = fastify({
    ...BOUNDS,
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: 1,
  });
  prepareDraining(app); // for `listenAt`: it keeps the further addresses of `localhost` there
  app.server.maxConnections = MAX_CONNECTIONS;
  app.setNotFoundHandler((_request, reply) => sendJson(reply, 404, { error: 'not_found' }));
  app.setErrorHandler((error, request, reply) => {
    request.log.error({ err: error }, 'failed to collect metrics');
    return sendJson(reply, 500, { error: 'server_error' });
  });
  metricsRoutes(app, registry, token);
  return app;
}
