import type { FastifyInstance } from 'fastify';
import { RETRY_AFTER_SECONDS } from '../../listener/answerTime.ts';
import { sendJson } from '../../listener/json.ts';
import type { DatabaseWatch } from '../../watch/databaseWatch.ts';

/** For an orchestrator: `live` reports that the process responds, `ready` that it can work. */
export function healthRoutes(app: FastifyInstance, watch: DatabaseWatch): void {
  const config = { isHealthCheck: true };
  app.get('/health/live', { config }, async (_request, reply) => sendJson(reply, 200, { status: 'ok' }));

  app.get('/health/ready', { config }, async (_request, reply) => {
    const isDraining = app.shutdown.isDraining;
    if (!isDraining && (await watch.isReady())) return sendJson(reply, 200, { status: 'ok' });
    // The watch has logged the reason, `serve` its end.
    reply.header('retry-after', RETRY_AFTER_SECONDS);
    return sendJson(reply, 503, { status: isDraining ? 'stopping' : 'unavailable' });
  });
}
