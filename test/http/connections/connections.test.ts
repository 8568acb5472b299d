import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { useSockets } from '../../support/http/sockets.ts';
import { createDatabase } from '../../support/postgres/database.ts';
import { intercept } from '../../support/postgres/intercept.ts';
import { type ServerOptions, startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const { sockets, open: openAt } = useSockets();

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
});

const start = async (options: ServerOptions) => {
  server = await startServer({ addresses: ['127.0.0.1'], ...options });
};

const FORM = 'Content-Type: application/x-www-form-urlencoded\r\n';
const LIVE = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n';

const post = (path: string, body: string, lines = '') =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${lines}${FORM}Content-Length: ${body.length}\r\n\r\n${body}`;

async function open(sent = '', localAddress = '127.0.0.1'): Promise<Socket> {
  return (await openAt(server.baseUrl.replace('localhost', '127.0.0.1'), sent, localAddress)).socket;
}

/** @returns whether a request on it is answered; a refused connection is closed instead */
async function answers(socket: Socket): Promise<boolean> {
  if (socket.closed) return false;
  const answered = new Promise<boolean>((resolve) => {
    socket.once('close', () => resolve(false));
    socket.once('data', () => resolve(true));
  });
  if (socket.writable) socket.write(LIVE);
  return answered;
}

/** Opens a connection that is kept alive after one request. @returns whether the server kept it */
const isServed = async (localAddress?: string) => answers(await open('', localAddress));

const openMany = (count: number, sent = '') => Promise.all(Array.from({ length: count }, () => open(sent)));

const isOpen = (socket: Socket) => !socket.closed && !socket.readableEnded;

const warnings = () => server.logLines.filter((line) => line.includes('MAX_CONNECTIONS'));

/** A server whose introspection answers once `release` is called. */
async function startHolding(options: ServerOptions) {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const gate = new EventEmitter();
  const held = once(gate, 'open');
  const pool = intercept(database.pool, async ({ name }, run) => {
    if (name === 'token-find') await held;
    return run();
  });
  await start({ ...options, database: { ...database, pool } });
  const lines = `Expect: 100-continue\r\nAuthorization: ${await server.createResource()}\r\n`;
  /** Resolves when the server has read the request, or turned the connection away. */
  const ask = async (localAddress?: string) => {
    const socket = await open(post('/oauth/introspect', 'token=x', lines), localAddress);
    await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    return socket;
  };
  return { ask, release: () => gate.emit('open') };
}

describe('open connections', () => {
  it('make room for new ones: the longest idle is closed first, with one log line', async () => {
    await start({ maxConnections: 10 });
    for (let n = 0; n < 15; n += 1) expect(await isServed()).toBe(true);
    const oldest = sockets.splice(0, 6);
    await expect.poll(() => oldest.some(isOpen)).toBe(false);
    for (const socket of sockets) expect(await answers(socket)).toBe(true);
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]).toContain('closing the longest idle ones');
  });

  it('count as idle since their last request, not since they were opened', async () => {
    await start({ maxConnections: 10 });
    const opened = await openMany(9);
    for (const socket of opened.toReversed()) expect(await answers(socket)).toBe(true);
    expect(await isServed()).toBe(true);
    await expect.poll(() => opened.map(isOpen)).toEqual([...Array(8).fill(true), false]);
  });

  it.each([
    ['send nothing', ''],
    ['never end their headers', 'GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow:'],
    ['never send the body they announce', post('/oauth/token', 'code=here').slice(0, -4)],
  ])('do not keep other clients out if they %s', async (_what, sent) => {
    await start({ maxConnections: 10 });
    for (let round = 0; round < 4; round += 1) {
      await openMany(10, sent);
      expect(await isServed()).toBe(true);
    }
    expect(server.logLines.filter((line) => /"level":(50|60|"error")/.test(line))).toEqual([]);
  });

  it('stay open during requests: one network gets a limited share, and others can connect', async () => {
    const { ask, release } = await startHolding({ maxConnections: 20 });
    const busy = [];
    for (let n = 0; n < 18; n += 1) busy.push(await ask());
    expect(await isServed()).toBe(false);
    expect(await isServed('127.0.0.2')).toBe(true);
    expect(await isServed('127.0.0.3')).toBe(true);
    expect(await isServed()).toBe(false);
    const answered = busy.map((socket) => once(socket, 'data'));
    release();
    for (const [data] of await Promise.all(answered)) expect(String(data)).toContain('HTTP/1.1 200');
    expect(await isServed()).toBe(true);
  });

  it('are limited when all are busy: further ones are closed, and accepted again later', async () => {
    const { ask, release } = await startHolding({ maxConnections: 10 });
    for (let n = 1; n <= 10; n += 1) await ask(`127.0.0.${n}`);
    expect(await isServed('127.0.1.1')).toBe(false);
    expect(await isServed('127.0.1.2')).toBe(false);
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]).toContain('refusing new ones');
    release();
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => isServed()).toBe(true);
  });

  it('of a trusted proxy may use the whole limit', async () => {
    const { ask, release } = await startHolding({ maxConnections: 10, trustProxy: 1 });
    const busy = [];
    for (let n = 0; n < 10; n += 1) busy.push(await ask());
    expect(busy.every(isOpen)).toBe(true);
    expect(await isServed()).toBe(false);
    release();
  });

  it('are closed after 5 idle seconds, as Keep-Alive announces; 72 seconds behind a proxy', async () => {
    await start({});
    const told = async () => {
      const socket = await open(LIVE);
      return { socket, head: String((await once(socket, 'data'))[0]).toLowerCase() };
    };
    const { socket, head } = await told();
    expect(head).toContain('\r\nkeep-alive: timeout=5\r\n');
    await once(socket, 'close');
    await server.close();
    await start({ trustProxy: 1 });
    expect((await told()).head).toContain('\r\nkeep-alive: timeout=72\r\n');
  });
});
