import { lookup } from 'node:dns/promises';
import { createServer, type Server } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** The addresses of a host: `localhost` may have two, one of each family. */
export async function addressesOf(host: string): Promise<string[]> {
  if (host !== 'localhost') return [host];
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/**
 * Listens at several addresses with one HTTP server. Fastify would make a second server for the second address of
 * `localhost`, without our limits on connections and our protection from request smuggling.
 *
 * @param describe what the log says of the first address
 * @throws what kept it from listening, except that this machine lacks one of the further addresses
 */
export async function listenAt(
  app: FastifyInstance,
  [first, ...others]: readonly string[],
  port: number,
  describe: (address: string) => string,
): Promise<void> {
  const listeners = others.map((host) => ({ host, listener: createListener(app) }));
  app.addHook('onClose', async () => {
    await Promise.all(listeners.map(({ listener }) => close(listener)));
  });
  await app.listen({ host: first ?? 'localhost', port, listenTextResolver: describe });
  await Promise.all(listeners.map(({ host, listener }) => listen(listener, host, port)));
}

/** A TCP server that hands its connections to the HTTP server. */
function createListener({ server }: FastifyInstance): Server {
  return createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    server.emit('connection', socket);
  });
}

/** `localhost` may resolve to an address of a family that is switched off. */
const NOT_HERE = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'];

function listen(listener: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    listener.once('listening', resolve);
    listener.once('error', (error: NodeJS.ErrnoException) =>
      NOT_HERE.includes(error.code ?? '') ? resolve() : reject(error),
    );
    listener.listen(port, host);
  });
}

/** Resolves when its last connection is closed. */
function close(listener: Server): Promise<void> {
  return new Promise((resolve) => {
    listener.close(() => resolve());
  });
}
