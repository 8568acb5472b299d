import type { FastifyInstance } from 'fastify';

/** How often the log says it, at most. */
const SAID_EVERY_MS = 60_000;

/**
 * Closes connections beyond `most` as they come: whoever opens thousands and sends nothing must not take the memory of
 * everybody else.
 */
export function limitConnections(app: FastifyInstance, most: number): void {
  let saidAt = Number.NEGATIVE_INFINITY;
  app.server.maxConnections = most;
  app.server.on('drop', () => {
    if (performance.now() - saidAt < SAID_EVERY_MS) return;
    saidAt = performance.now();
    app.log.warn(`more than ${most} connections are open (MAX_CONNECTIONS): others are turned away`);
  });
}
