import type { FastifyInstance } from 'fastify';
import { checkReady } from '../flows/ready.ts';
import type { Site } from './browserSession.ts';
import { sendJson } from './json.ts';

/** For whoever runs the container: `live` says the process answers, `ready` that it can do its work. */
export async function healthRoutes(app: FastifyInstance, { context }: Site): Promise<void> {
  app.get('/health/live', async (_request, reply) => sendJson(reply, 200, { status: 'ok' }));

  app.get('/health/ready', async (_request, reply) => {
    await checkReady(context); // an error is answered with 503
    return sendJson(reply, 200, { status: 'ok' });
  });
}
