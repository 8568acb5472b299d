import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';

/** As `localhost` is two addresses on most machines; Linux has all of 127.0.0.0/8. */
const ADDRESSES = ['127.0.0.1', '127.0.0.2'];
const MOST = 5;
const FORM = 'Content-Type: application/x-www-form-urlencoded\r\n';

/** Whether a new connection is taken. */
function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, ADDRESSES[0], () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

describe.runIf(process.platform === 'linux')('a server at two addresses', () => {
  let server: TestServer;
  let port: number;

  beforeAll(async () => {
    server = await startServer({ addresses: ADDRESSES, maxConnections: MOST });
    port = Number(new URL(server.baseUrl).port);
  });

  afterAll(async () => {
    await server?.close();
  });

  /** Sends `text` and reads until the server closes. */
  function ask(host: string, text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      let answer = '';
      const socket = connect(port, host, () => socket.write(text));
      socket.on('data', (chunk) => {
        answer += chunk;
      });
      socket.once('close', () => resolve(answer));
      socket.once('error', reject);
    });
  }

  const statuses = (answer: string) => [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  const live = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';

  it.each(ADDRESSES)('answers in turn, and garbage behind the last request, at %s', async (host) => {
    expect(statuses(await ask(host, `${live}${live}garbage\r\n\r\n`))).toEqual(['200', '200', '400']);
  });

  it.each(ADDRESSES)('says that it is no proxy, at %s', async (host) => {
    expect(statuses(await ask(host, 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n'))).toEqual(['400']);
  });

  it.each(ADDRESSES)('counts the connections at %s together with those at the other', async (host) => {
    const open = Array.from({ length: MOST - 1 }, () =>
      connect(
        port,
        ADDRESSES.find((one) => one !== host),
      ),
    );
    await Promise.all(open.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
    const closed = Promise.race(
      open.map((socket) => new Promise((resolve) => socket.once('close', resolve))),
    );
    expect(statuses(await ask(host, `${live}garbage\r\n\r\n`))).toEqual(['200', '400']);
    await closed;
    for (const socket of open) socket.destroy();
  });

  it.each(ADDRESSES)(
    'answers what is under way at %s before it is closed, and ends the connection',
    async (host) => {
      const own = await startServer({ addresses: ADDRESSES });
      const ownPort = Number(new URL(own.baseUrl).port);
      const socket = connect(ownPort, host);
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk;
      });
      socket.write(
        `POST /oauth/token HTTP/1.1\r\nHost: x\r\n${FORM}Content-Length: 3\r\nExpect: 100-continue\r\n\r\n`,
      );
      await expect.poll(() => received).toContain('100 Continue'); // from here on the request is under way
      const closed = own.close();
      await expect.poll(() => isOpen(ownPort)).toBe(false);
      socket.write('a=b');
      await once(socket, 'close');
      expect(statuses(received)).toEqual(['100', '400']);
      expect(received).toMatch(/\r\nconnection: close\r\n/i); // or closing would wait until it is idle for too long
      await closed;
    },
  );
});
