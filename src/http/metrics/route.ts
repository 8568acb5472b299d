import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import { bytesOf, sha256 } from '../../secrets/digest.ts';
import { sendJson } from '../request/json.ts';

const NO_TOKEN = {
  error: 'invalid_token',
  error_description: 'Send METRICS_TOKEN in the Authorization header, as Bearer.',
};

/** The metrics for Prometheus. @param token required of the scraper; null for none */
export function metricsRoutes(app: FastifyInstance, registry: Registry, token: string | null): void {
  app.get('/metrics', async (request, reply) => {
    if (mayRead(request, token)) {
      return reply.header('content-type', registry.contentType).send(await registry.metrics());
    }
    const rule = 'missing or wrong METRICS_TOKEN';
    request.logFields = { error: NO_TOKEN.error, rule, rule_id: 'wrong_metrics_token' };
    return sendJson(reply.header('www-authenticate', 'Bearer realm="metrics"'), 401, NO_TOKEN);
  });
}

/** The token comes as `Authorization: Bearer` (RFC 6750 section 2.1). */
function mayRead({ headers }: FastifyRequest, token: string | null): boolean {
  if (token === null) return true;
  const [, sent] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  return sent !== undefined && timingSafeEqual(bytesOf(sha256(sent)), bytesOf(sha256(token)));
}
