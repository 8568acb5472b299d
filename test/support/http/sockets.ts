import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach } from 'vitest';

export function useSockets() {
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  const open = async (baseUrl: string, sent = '', localAddress?: string) => {
    const { hostname: host, port } = new URL(baseUrl);
    const socket = connect({ host, port: Number(port), ...(localAddress ? { localAddress } : {}) });
    sockets.push(socket);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    await once(socket, 'connect');
    socket.on('error', () => {}); // reset by the server
    socket.write(sent);
    return { socket, received: () => received };
  };
  const isTaken = (baseUrl: string) =>
    open(baseUrl).then(
      ({ socket }) => {
        socket.destroy(); // a server that ends waits for it
        return true;
      },
      () => false,
    );
  return { sockets, open, isTaken };
}
