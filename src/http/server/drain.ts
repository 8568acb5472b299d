import type { FastifyInstance } from 'fastify';

/**
 * Closes each connection with its next response once the server is closing (connection draining). Node itself closes only
 * those that are idle at that moment; the others would keep the server waiting for the whole keep-alive time.
 */
export function closeConnectionsWhenClosing(app: FastifyInstance): void {
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing) reply.header('connection', 'close');
    done();
  });
}
