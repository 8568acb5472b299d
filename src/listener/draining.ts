import { Server } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { IDLE_GRACE_MS, MAX_STILL_ACCEPTING_MS } from '../rules/common/timeouts.ts';

/** For {@link drain}. Call it before reading `shutdown`. */
export function prepareDraining(app: FastifyInstance): void {
  const shutdown = { isDraining: false, lastRequestAt: 0, listeners: new Set<Server>([app.server]) };
  app.decorate('shutdown', shutdown);
  app.addHook('preClose', async () => {
    shutdown.isDraining = true;
  });
  app.addHook('onSend', (request, reply, _payload, done) => {
    // Node itself closes only the connections that are idle at the end.
    if (shutdown.isDraining) {
      reply.header('connection', 'close');
      if (!request.routeOptions.config.isHealthCheck) shutdown.lastRequestAt = performance.now();
    }
    done();
  });
}

/** Graceful shutdown without failed requests. @param forMs accepts connections this long, and while requests arrive */
export async function drain(app: FastifyInstance, forMs: number): Promise<void> {
  const { shutdown, connections, server } = app;
  shutdown.isDraining = true;
  await setTimeout(forMs);
  const isQuiet = () => performance.now() >= shutdown.lastRequestAt + QUIET_FOR_MS;
  if (forMs > 0) await waitUntil(isQuiet, MAX_STILL_ACCEPTING_MS);
  await waitForIdleLoop();
  // Node's own `close` of an HTTP server would close idle connections, too.
  for (const listener of shutdown.listeners) Server.prototype.close.call(listener);
  await waitUntil(() => connections.size === 0, IDLE_GRACE_MS);
  await waitForIdleLoop();
  server.closeIdleConnections();
  // Node counts a connection as busy until its first request is read; browsers open some in advance.
  for (const socket of connections.keys()) if (socket.bytesRead === 0) socket.destroy();
}

/** After this time without a request, the load balancer has switched away. */
const QUIET_FOR_MS = 300;

async function waitUntil(isDone: () => boolean, maxMs: number): Promise<void> {
  const until = performance.now() + maxMs;
  while (!isDone() && performance.now() < until) await setTimeout(10);
}

/** An event-loop turn this short had next to nothing to read. */
const QUIET_MS = 0.2;
const MAX_TURNS = 500;

/**
 * Waits for a turn without input: closing resets a request that is unread in the kernel. A fixed pause would be too long on an idle
 * machine and too short on a busy one, where Node reads a request long after it arrived.
 */
async function waitForIdleLoop(): Promise<void> {
  for (let turns = 0; turns < MAX_TURNS; turns += 1) {
    const began = performance.now();
    await new Promise(setImmediate);
    if (performance.now() - began < QUIET_MS) return;
  }
}
