import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

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
  const timer = setInterval(() => {
    const now = performance.now();
    for (const [socket, connection] of app.connections) {
      const { responses, progress } = connection;
      const bytes = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0 || bytes !== progress.bytes)
        connection.progress = { bytes, since: now };
      else if (now - progress.since > maxReadMs) socket.destroy();
      const isAnswering = socket.writableLength > 0 || responses.at(-1)?.writableFinished === false;
      // Node ends it then. Set for all (`server.timeout`), each request would need a timer. Idle ones have another.
      if (isAnswering && socket.timeout !== idleMs) socket.setTimeout(idleMs);
    }
  }, checkEveryMs).unref();
  app.addHook('onClose', async () => clearInterval(timer));
}

/** Node parses a whole packet, thousands of requests. @returns false if there are too many: the connection is closed */
export function limitPipelining(request: FastifyRequest, reply: FastifyReply): boolean {
  const { socket } = request.raw;
  const { responses } = request.server.connections.get(socket) ?? {};
  if (responses === undefined || responses.length <= MAX_PIPELINED) return true;
  reply.hijack();
  if (!socket.destroyed) {
    socket.destroy();
    const rule = `more than ${MAX_PIPELINED} requests of one connection wait for their responses`;
    request.log.info({ method: request.method, rule }, 'connection closed');
  }
  return false;
}
