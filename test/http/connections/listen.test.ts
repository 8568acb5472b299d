import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { converse } from '../../support/http/rawHttp.ts';
import { useSockets } from '../../support/http/sockets.ts';
import { startServer, type TestServer } from '../../support/server.ts';

/** As `localhost` is two addresses on most machines; Linux has all of 127.0.0.0/8. */
const ADDRESSES = ['127.0.0.1', '127.0.0.2'];
const MOST = 5;
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const LIVE = get('/health/live');

const { open, isTaken } = useSockets();
const at = (host: string, { baseUrl }: TestServer) => baseUrl.replace('localhost', host);

describe.runIf(process.platform === 'linux').each(ADDRESSES)('a server with two addresses, at %s', (host) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ addresses: ADDRESSES, maxConnections: MOST });
  });
  afterAll(() => server?.close());

  const statusesOf = async (text: string) =>
    (await converse(at(host, server), text)).answers.map(({ status }) => status);

  it('answers in order, with an error for garbage after the last request', async () => {
    expect(await statusesOf(`${LIVE}${LIVE}garbage\r\n\r\n`)).toEqual([200, 200, 400]);
  });

  it('refuses CONNECT, because it is not a proxy', async () => {
    expect(await statusesOf('CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n')).toEqual([400]);
  });

  it('counts connections at both addresses together', async () => {
    const other = at(ADDRESSES.find((one) => one !== host) ?? '', server);
    const idle = await Promise.all(Array.from({ length: MOST - 1 }, () => open(other)));
    const closed = Promise.race(idle.map(({ socket }) => once(socket, 'close')));
    expect(await statusesOf(`${LIVE}garbage\r\n\r\n`)).toEqual([200, 400]);
    await closed;
  });
});

describe('a server that is shutting down', () => {
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

  it('answers 503 at /health/ready, and closes each old or new connection after its response', async () => {
    const used = await openUsed();
    const drained = server.drain(300);
    used.socket.write(get('/health/ready'));
    await once(used.socket, 'close');
    const { socket, received } = await open(server.baseUrl, LIVE);
    await once(socket, 'close');
    expect(received()).toMatch(/^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/is);
    const [, ready = ''] = used.received().split(/(?=HTTP\/1\.1 503)/);
    expect(ready).toMatch(/^HTTP\/1\.1 503 .*\r\nconnection: close\r\n.*\{"status":"stopping"\}/is);
    await drained;
    expect(await isTaken(server.baseUrl)).toBe(false);
  });

  it('still answers a request on an idle connection after it stops listening', async () => {
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
});
