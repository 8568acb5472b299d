import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';

// A server that is told to end, seen over connections that were there before.

const LIVE = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
const READY = 'GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n';

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** A connection, and what came on it. */
async function open({ baseUrl }: TestServer): Promise<{ socket: Socket; received(): string }> {
  const { port } = new URL(baseUrl);
  const socket = connect(Number(port), 'localhost');
  sockets.push(socket);
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  await once(socket, 'connect');
  return { socket, received: () => received };
}

/** One on which a request was answered, and the next may come. */
async function openUsed(server: TestServer) {
  const connection = await open(server);
  connection.socket.write(LIVE);
  await expect.poll(connection.received).toMatch(/^HTTP\/1\.1 200 /);
  return connection;
}

const takesConnections = async (server: TestServer) =>
  open(server).then(
    () => true,
    () => false,
  );

it('a server that ends is not ready and says so on each connection, and still takes new ones', async () => {
  const server = await startServer();
  const used = await openUsed(server);
  const drained = server.drain(300);
  used.socket.write(READY);
  await once(used.socket, 'close');
  const { socket, received } = await open(server);
  socket.write(LIVE);
  await once(socket, 'close');
  expect(received()).toMatch(/^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/is);
  const [, ready = ''] = used.received().split(/(?=HTTP\/1\.1 503)/);
  expect(ready).toMatch(/^HTTP\/1\.1 503 .*\r\nconnection: close\r\n.*\{"status":"stopping"\}/is);
  await drained;
  expect(await takesConnections(server)).toBe(false);
  await server.close();
});

it('a request that comes on an idle connection after the last new one is still answered', async () => {
  const server = await startServer();
  const used = await openUsed(server);
  const drained = server.drain(0);
  await expect.poll(() => takesConnections(server), { interval: 5 }).toBe(false);
  used.socket.write(LIVE);
  await once(used.socket, 'close');
  expect(used.received().match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
  expect(used.received()).toMatch(/\r\nconnection: close\r\n/is);
  await drained;
  await server.close();
});

it('connections that bring nothing are closed, also those that never brought a request', async () => {
  const server = await startServer();
  const connections = [await openUsed(server), await open(server)];
  const closed = Promise.all(connections.map(({ socket }) => once(socket, 'close')));
  await server.drain(0);
  await closed;
  await server.close();
});
