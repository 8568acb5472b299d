import { lookup } from 'node:dns/promises';
import { createServer, type Server } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** The addresses of a host: `localhost` may have two, one of each family. */
export async function addressesOf(host: string): Promise<string[]> {
  if (host !== 'localhost') return [host];
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/**
 * Listens at several addresses with one server. Fastify would make another one for the second address of `localhost`,
 * which knows nothing of our limits on connections, of `CONNECT` and of framing.
 *
 * @param describe what the log says of the first address
 * @throws what kept it from listening; that this machine lacks one of the further addresses does not
 */
export async function listenAt(
  app: FastifyInstance,
  [first, ...others]: readonly string[],
  port: number,
  describe: (address: string) => string,
): Promise<void> {
  const doors = others.map((host) => ({ host, door: openDoor(app) }));
  app.addHook('onClose', async () => {
    await Promise.all(doors.map(({ door }) => closeDoor(door)));
  });
  await app.listen({ host: first ?? 'localhost', port, listenTextResolver: describe });
  await Promise.all(doors.map(({ host, door }) => listenAtDoor(door, host, port)));
}

/** Hands its connections to the server, which reads and answers them like its own. */
function openDoor({ server }: FastifyInstance): Server {
  return createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    server.emit('connection', socket);
  });
}

/** `localhost` may be said to have an address of a family that is switched off. */
const NOT_HERE = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'];

function listenAtDoor(door: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    door.once('listening', resolve);
    door.once('error', (error: NodeJS.ErrnoException) =>
      NOT_HERE.includes(error.code ?? '') ? resolve() : reject(error),
    );
    door.listen(port, host);
  });
}

/** Once the requests under way there are answered. */
function closeDoor(door: Server): Promise<void> {
  return new Promise((resolve) => {
    door.close(() => resolve());
  });
}
