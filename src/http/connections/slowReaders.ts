import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { newestResponseOf, unfinishedOf } from './responses.ts';

/** The limits on a connection whose client does not read; tests may use shorter ones. */
const LIMITS = {
  /** Without progress in either direction, after a check; longer than a request may take to arrive. Node may wait it twice. */
  idleMs: 30_000,
  /** For the client to read one response, regardless of other traffic: a page at half a kilobyte a second. */
  maxReadMs: 120_000,
  checkEveryMs: 5_000,
};

/** Requests of one connection without a finished response. Browsers send one, programs a few. */
const MAX_PIPELINED = 16;

/** Closes connections of clients that send and do not read (slow read attack), but none that reads slowly or has to wait. */
export function endSlowReaders(app: FastifyInstance, { idleMs, maxReadMs, checkEveryMs } = LIMITS): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (limitPipelining(request, reply)) done();
  });
  /** Bytes read by the client, and the time of the last change. */
  const connections = new Map<Socket, { readonly bytes: number; readonly since: number }>();
  app.server.on('connection', (socket: Socket) => {
    connections.set(socket, { bytes: 0, since: performance.now() });
    socket.once('close', () => connections.delete(socket));
  });
  const check = () => {
    const now = performance.now();
    for (const [socket, before] of connections) {
      const bytes = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0 || bytes !== before.bytes)
        connections.set(socket, { bytes, since: now });
      else if (now - before.since > maxReadMs) socket.destroy();
      // Node ends it then. Set for all (`server.timeout`), each request would need a timer. Idle ones have another.
      if (isAnswering(socket) && socket.timeout !== idleMs) socket.setTimeout(idleMs);
    }
  };
  const timer = setInterval(check, checkEveryMs).unref();
  app.addHook('onClose', async () => clearInterval(timer));
}

function isAnswering(socket: Socket): boolean {
  return socket.writableLength > 0 || newestResponseOf(socket)?.writableFinished === false;
}

/** Node parses a whole packet, thousands of requests. @returns false if there are too many: the connection is closed */
export function limitPipelining(request: FastifyRequest, reply: FastifyReply): boolean {
  const { socket } = request.raw;
  if (unfinishedOf(socket).length <= MAX_PIPELINED) return true;
  reply.hijack();
  if (!socket.destroyed) {
    socket.destroy();
    const rule = `more than ${MAX_PIPELINED} requests of one connection wait for their answers`;
    request.log.info({ method: request.method, rule }, 'connection closed');
  }
  return false;
}
