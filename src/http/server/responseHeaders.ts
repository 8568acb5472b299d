import type { FastifyInstance } from 'fastify';
import { isHttps } from '../browser/cookies.ts';

/** Two years, the minimum of browsers' preload lists; for this host only. */
const STRICT_TRANSPORT = 'max-age=63072000';

/** For every response: the request id; over https HSTS, against a network that redirects browsers to plain http. */
export function addResponseHeaders(app: FastifyInstance, baseUrl: string): void {
  const overHttps = isHttps(baseUrl);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    if (overHttps) reply.header('strict-transport-security', STRICT_TRANSPORT);
    done();
  });
}
