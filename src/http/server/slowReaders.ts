import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/**
 * How long nothing may move on a connection, in either direction: longer than a request may take to come. Node sees when
 * part of an answer was taken, and gives one that waits a second such time.
 */
const STANDSTILL_MS = 30_000;
/** How long one answer may take to be taken, whatever else comes meanwhile: a page by half a kilobyte a second. */
const MAX_TAKING_MS = 120_000;
const LOOKED_AT_EVERY_MS = 5_000;
/** Requests of one connection that wait for their answers or to have them taken. Browsers send one, programs a few. */
const MAX_WAITING = 16;

/** How long each limit is; a test of its own may be shorter. */
export interface Patience {
  readonly standstillMs: number;
  readonly longestTakingMs: number;
  readonly lookedAtEveryMs: number;
}

const PATIENCE: Patience = {
  standstillMs: STANDSTILL_MS,
  longestTakingMs: MAX_TAKING_MS,
  lookedAtEveryMs: LOOKED_AT_EVERY_MS,
};

/**
 * Ends connections whose peer asks and does not read: what it asked for would stay in memory for as long as it likes.
 * One that is slow but reads is not cut, and neither is one whose answer is not ready yet.
 */
export function endSlowReaders(app: FastifyInstance, patience = PATIENCE): void {
  app.server.timeout = patience.standstillMs;
  endSlowTaking(app, patience);
  app.addHook('onRequest', (request, reply, done) => {
    if (mayWait(request, reply)) done();
  });
}

/** How much of what was written the peer has taken, and since when it is no more. */
interface Taking {
  readonly bytes: number;
  readonly since: number;
}

function endSlowTaking(app: FastifyInstance, { longestTakingMs, lookedAtEveryMs }: Patience): void {
  const connections = new Map<Socket, Taking>();
  app.server.on('connection', (socket: Socket) => {
    connections.set(socket, { bytes: 0, since: performance.now() });
    socket.once('close', () => connections.delete(socket));
  });
  const look = () => {
    const now = performance.now();
    for (const [socket, before] of connections) {
      const bytes = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0 || bytes !== before.bytes)
        connections.set(socket, { bytes, since: now });
      else if (now - before.since > longestTakingMs) socket.destroy();
    }
  };
  const looking = setInterval(look, lookedAtEveryMs).unref();
  app.addHook('onClose', async () => clearInterval(looking));
}

/** How many requests of each connection wait. */
const waiting = new WeakMap<Socket, number>();

/**
 * Node reads all that came in one piece, which may be thousands of requests, before it looks whether answers are taken.
 *
 * @returns false when one more is not to be answered: the connection is closed then
 */
export function mayWait(request: FastifyRequest, reply: FastifyReply): boolean {
  const { socket } = request.raw;
  const count = waiting.get(socket) ?? 0;
  waiting.set(socket, count + 1);
  reply.raw.once('finish', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
  if (count < MAX_WAITING) return true;
  reply.hijack();
  if (!socket.destroyed) {
    socket.destroy();
    const rule = `more than ${MAX_WAITING} requests of one connection wait for their answers`;
    request.log.info({ method: request.method, rule }, 'connection closed');
  }
  return false;
}
