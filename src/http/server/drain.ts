import type { FastifyInstance } from 'fastify';

/**
 * Ends each connection with the answer to its last request once the server is closing. Node closes the
 * connections that are idle at that moment; one that becomes idle a little later would keep the server
 * waiting for the whole keep-alive time.
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
