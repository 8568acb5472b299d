import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { sendJson } from '../server/json.ts';
import { mayRead } from './access.ts';

const NO_TOKEN = {
  error: 'invalid_token',
  error_description: 'Send METRICS_TOKEN in the Authorization header, as Bearer.',
};

/** Where the metrics come from: this process, or several. */
export type MetricsSource = Pick<Registry, 'contentType' | 'metrics'>;

/** The metrics, to be read by Prometheus. @param token that is asked for; null for none */
export function metricsRoutes(app: FastifyInstance, source: MetricsSource, token: string | null): void {
  app.get('/metrics', async (request, reply) => {
    if (mayRead(request, token)) {
      return reply.header('content-type', source.contentType).send(await source.metrics());
    }
    request.logFields = { error: NO_TOKEN.error, rule: 'missing or wrong METRICS_TOKEN' };
    return sendJson(reply.header('www-authenticate', 'Bearer realm="metrics"'), 401, NO_TOKEN);
  });
}
