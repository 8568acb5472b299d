import type { FastifyInstance } from 'fastify';
import { isHttps } from '../rules/common/network.ts';

/** For every response: the request id; over https HSTS, against a network that redirects browsers to plain http. */
export function addResponseHeaders(app: FastifyInstance, baseUrl: string): void {
  const overHttps = isHttps(baseUrl);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    // Two years, the minimum of browsers' preload lists; for this host only.
    if (overHttps) reply.header('strict-transport-security', 'max-age=63072000');
    done();
  });
}
