import type { FastifyInstance } from 'fastify';
import { checkReady } from '../flows/ready.ts';
import type { Site } from './browserSession.ts';
import { RETRY_AFTER_SECONDS } from './faults.ts';
import { sendJson } from './json.ts';

/** For whoever runs the container: `live` says the process answers, `ready` that it can do its work. */
export async function healthRoutes(app: FastifyInstance, { context }: Site): Promise<void> {
  app.get('/health/live', async (_request, reply) => sendJson(reply, 200, { status: 'ok' }));

  app.get('/health/ready', async (request, reply) => {
    try {
      await checkReady(context);
    } catch (error) {
      // Whatever it is, traffic is better sent elsewhere.
      request.log.error({ err: error }, 'not ready');
      reply.header('retry-after', RETRY_AFTER_SECONDS);
      return sendJson(reply, 503, { status: 'unavailable' });
    }
    return sendJson(reply, 200, { status: 'ok' });
  });
}
