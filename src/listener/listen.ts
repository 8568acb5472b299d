import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** The addresses of a host: `localhost` may have two, one of each family. */
export async function resolveHost(host: string): Promise<string[]> {
  if (host !== 'localhost') return [host];
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** Listens at all addresses with one HTTP server: Fastify would make a second one for `localhost`, without our limits. */
export async function listenAt(
  app: FastifyInstance,
  [first = 'localhost', ...others]: readonly string[],
  port: number,
  describe: (address: string) => string,
): Promise<void> {
  const handOver = (socket: Socket) => app.server.emit('connection', socket);
  const options = { allowHalfOpen: true, noDelay: true };
  const further = others.map((host) => [host, createServer(options, handOver)] as const);
  for (const [, listener] of further) app.shutdown.listeners.add(listener);
  app.addHook('onClose', async () => {
    await Promise.all(further.map(([, listener]) => once(listener.close(), 'close')));
  });
  await app.listen({ host: first, port, listenTextResolver: describe });
  for (const [host, listener] of further) await listen(listener, host, port);
}

/** Listens and stops at once. @throws what listening throws, as where the port is taken */
export async function tryPort(addresses: readonly string[], port: number): Promise<void> {
  for (const host of addresses) {
    const listener = createServer();
    await listen(listener, host, port);
    await once(listener.close(), 'close');
  }
}

/** `localhost` may resolve to a disabled address family. */
const NOT_HERE = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'];

async function listen(listener: Server, host: string, port: number): Promise<void> {
  try {
    await once(listener.listen(port, host), 'listening');
  } catch (error) {
    if (!NOT_HERE.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
