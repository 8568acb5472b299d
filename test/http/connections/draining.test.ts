import { once } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { useSockets } from '../../support/http/sockets.ts';
import { startServer, type TestServer } from '../../support/server.ts';

// A server that is told to end, seen over connections that were there before.

const LIVE = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
const READY = 'GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n';

const { open, isTaken } = useSockets();
let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

/** A connection on which a request was answered, and the next may come. */
async function openUsed() {
  const connection = await open(server.baseUrl, LIVE);
  await expect.poll(connection.received).toMatch(/^HTTP\/1\.1 200 /);
  return connection;
}

it('a draining server is not ready, says so on each connection, and accepts new ones', async () => {
  const used = await openUsed();
  const drained = server.drain(300);
  used.socket.write(READY);
  await once(used.socket, 'close');
  const { socket, received } = await open(server.baseUrl, LIVE);
  await once(socket, 'close');
  expect(received()).toMatch(/^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/is);
  const [, ready = ''] = used.received().split(/(?=HTTP\/1\.1 503)/);
  expect(ready).toMatch(/^HTTP\/1\.1 503 .*\r\nconnection: close\r\n.*\{"status":"stopping"\}/is);
  await drained;
  expect(await isTaken(server.baseUrl)).toBe(false);
});

it('answers a request on an idle connection after the last new connection', async () => {
  const used = await openUsed();
  const drained = server.drain(0);
  await expect.poll(() => isTaken(server.baseUrl), { interval: 5 }).toBe(false);
  used.socket.write(LIVE);
  await once(used.socket, 'close');
  expect(used.received().match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
  expect(used.received()).toMatch(/\r\nconnection: close\r\n/is);
  await drained;
});

it('closes idle connections, including those that never sent a request', async () => {
  const connections = [await openUsed(), await open(server.baseUrl)];
  const closed = Promise.all(connections.map(({ socket }) => once(socket, 'close')));
  await server.drain(0);
  await closed;
});
