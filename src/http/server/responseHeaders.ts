import type { FastifyInstance } from 'fastify';
import { isHttps } from '../browser/cookies.ts';

/** Two years, the least that browsers' preload lists ask for. Only of this host: the others are not ours to speak for. */
const STRICT_TRANSPORT = 'max-age=63072000';

/** What every answer carries: the reference of its log line and, over https, that it is never to be asked for without. */
export function addResponseHeaders(app: FastifyInstance, baseUrl: string): void {
  const overHttps = isHttps(baseUrl);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    if (overHttps) reply.header('strict-transport-security', STRICT_TRANSPORT);
    done();
  });
}
