import { Server, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { IDLE_GRACE_MS, STILL_ASKED_MS } from '../../rules/timeouts.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly ending: Ending;
  }
}

/** How far a server is with its end. */
interface Ending {
  /** From now on it is not ready, and each answer ends its connection (connection draining). */
  isAnnounced: boolean;
  /** When the last request came since, but for checks of health. */
  askedAt: number;
  /** Everything that takes connections. */
  readonly listeners: Set<Server>;
  readonly connections: Set<Socket>;
}

/** Keeps what {@link drain} needs. Call it before anything asks for `ending`. */
export function prepareDraining(app: FastifyInstance): void {
  const listeners = new Set<Server>([app.server]);
  const ending: Ending = { isAnnounced: false, askedAt: 0, listeners, connections: new Set() };
  app.decorate('ending', ending);
  app.addHook('preClose', async () => {
    ending.isAnnounced = true;
  });
  app.server.on('connection', (socket: Socket) => {
    ending.connections.add(socket);
    socket.once('close', () => ending.connections.delete(socket));
  });
  app.addHook('onSend', (request, reply, _payload, done) => {
    // Node itself closes only connections that are idle at the end: others would keep the server waiting until they are.
    if (ending.isAnnounced) {
      reply.header('connection', 'close');
      if (!request.routeOptions.config.isHealthCheck) ending.askedAt = performance.now();
    }
    done();
  });
}

/**
 * Ends a server so that nobody feels it, up to the requests that are under way then. While it still takes connections, its
 * balancer finds that it is not ready. A connection that is idle is left to its client for a moment: a request may be on its
 * way. What arrived in the kernel before a listener or connection is closed is read first.
 *
 * @param forMs how long it still takes connections; a little longer while its balancer still sends requests
 */
export async function drain({ ending, server }: FastifyInstance, forMs: number): Promise<void> {
  ending.isAnnounced = true;
  await setTimeout(forMs);
  if (forMs > 0) await unasked(ending);
  await quietTurn();
  // Not Node's own `close` of an HTTP server, which would close the idle connections as well.
  for (const listener of ending.listeners) Server.prototype.close.call(listener);
  await allClosed(ending.connections, IDLE_GRACE_MS);
  await quietTurn();
  server.closeIdleConnections();
  // Node counts a connection as busy until its first request was read; browsers open some in advance.
  for (const socket of ending.connections) if (socket.bytesRead === 0) socket.destroy();
}

/** Waits until nobody has asked for a while. */
async function unasked(ending: Ending): Promise<void> {
  const until = performance.now() + STILL_ASKED_MS;
  while (performance.now() < Math.min(until, ending.askedAt + QUIET_FOR_MS)) await setTimeout(CHECK_MS);
}

/** Without a request for so long, a balancer has turned away. */
const QUIET_FOR_MS = 300;

async function allClosed(connections: ReadonlySet<Socket>, maxMs: number): Promise<void> {
  const until = performance.now() + maxMs;
  while (connections.size > 0 && performance.now() < until) await setTimeout(CHECK_MS);
}

const CHECK_MS = 10;

/** A turn of the event loop that took no longer than this had next to nothing to read. */
const QUIET_MS = 0.2;
const MAX_TURNS = 500;

/**
 * Waits for a turn of the event loop in which next to nothing arrived, so that what its caller closes has nothing unread: a
 * new connection in the kernel's queue, or a request on an idle one, would be reset. A busy server has one every few turns.
 */
async function quietTurn(): Promise<void> {
  for (let turns = 0; turns < MAX_TURNS; turns += 1) {
    const began = performance.now();
    await new Promise(setImmediate);
    if (performance.now() - began < QUIET_MS) return;
  }
}
