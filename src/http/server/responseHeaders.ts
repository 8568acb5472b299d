import type { FastifyInstance } from 'fastify';
import { isHttps } from '../browser/cookies.ts';

/** Two years, the least that browsers' preload lists ask for; of this host alone. */
const STRICT_TRANSPORT = 'max-age=63072000';

/**
 * Sets the headers of every response: the request id; over https HSTS, against a network that leads browsers to plain http;
 * once the server is closing `Connection: close` (connection draining). Node itself closes only the connections that are idle
 * then: the others would keep the server waiting for the whole keep-alive time.
 */
export function addResponseHeaders(app: FastifyInstance, baseUrl: string): void {
  const overHttps = isHttps(baseUrl);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    if (overHttps) reply.header('strict-transport-security', STRICT_TRANSPORT);
    done();
  });

  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing) reply.header('connection', 'close');
    done();
  });
}
