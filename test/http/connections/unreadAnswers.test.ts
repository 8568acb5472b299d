import { once } from 'node:events';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { limitConnections } from '../../../src/listener/connectionLimit.ts';
import { endSlowReaders } from '../../../src/listener/slowReaders.ts';
import { insertGrants, signedIn } from '../../support/account.ts';
import { Agent } from '../../support/http/agent.ts';
import { useSockets } from '../../support/http/sockets.ts';
import { useServer } from '../../support/server.ts';

const sockets = useSockets();

async function open(baseUrl: string): Promise<Socket> {
  const { socket } = await sockets.open(baseUrl);
  return socket.pause();
}

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;

/** More than the kernel's buffers hold. */
const LARGE = 24 * 1024 * 1024;

describe('a response', () => {
  let app: FastifyInstance;

  afterEach(async () => {
    await app.close();
  });

  /** A server that is less patient than ours. */
  async function serve(standstillMs: number, longestTakingMs: number): Promise<string> {
    app = fastify({ forceCloseConnections: true });
    limitConnections(app, 100, true);
    endSlowReaders(app, { idleMs: standstillMs, maxReadMs: longestTakingMs, checkEveryMs: 100 });
    app.get('/large', async () => Buffer.alloc(LARGE));
    return app.listen({ port: 0, host: '127.0.0.1' });
  }

  const openConnections = () =>
    new Promise<number>((resolve) => app.server.getConnections((_error, count) => resolve(count)));
  const expectEnded = () => expect.poll(openConnections).toBe(0);

  it('that is not read is aborted, with its connection [unreadAnswers-1]', async () => {
    const socket = await open(await serve(1_000, 60_000));
    socket.write(get('/large'));
    await expect.poll(openConnections).toBe(1);
    await expectEnded();
  });

  it('that is not read is aborted although the client continues to send', async () => {
    const socket = await open(await serve(60_000, 1_000));
    socket.write(get('/large') + get('/large').slice(0, -2));
    const sending = setInterval(() => socket.write('A: b\r\n'), 50);
    onTestFinished(() => clearInterval(sending));
    await expect.poll(openConnections).toBe(1);
    await expectEnded();
  });

  it('that is read slowly arrives completely, also after the stall timeout', {
    timeout: 60_000,
  }, async () => {
    const socket = await open(await serve(2_000, 60_000));
    socket.write(get('/large', 'Connection: close\r\n'));
    const started = performance.now();
    const taking = 10_000;
    let read = 0;
    while (read < LARGE && !socket.destroyed) {
      read += (socket.read() as Buffer | null)?.length ?? 0;
      const due = started + (read / LARGE) * taking;
      await new Promise((resolve) => setTimeout(resolve, Math.max(5, due - performance.now())));
    }
    expect(read).toBeGreaterThanOrEqual(LARGE);
  });
});

describe('a connection with pipelined requests', async () => {
  const server = await useServer();
  let cookie: string;

  beforeAll(async () => {
    const [client, user] = [await server.createClient(), await server.createUser()];
    const agent = await signedIn(server, user);
    cookie = `Cookie: assent_session=${agent.cookies.get('assent_session')}\r\n`;
    const scope = Array.from({ length: 80 }, (_, n) => `payment.to-pattern("pattern ${n}")`).join(' ');
    await insertGrants(server, { user, client, count: 20, scope });
  });

  it.each(['/oauth/account', '/nowhere', '/%FF', '/oauth/authorize', '/metrics'])(
    'is closed at once after too many requests, of which few are processed: %s [unreadAnswers-2]',
    async (path) => {
      const socket = await open(server.baseUrl);
      const logged = server.logLines.length;
      socket.resume();
      socket.write(get(path, cookie).repeat(500));
      await once(socket, 'close');
      const lines = server.logLines.slice(logged);
      const closed = lines.filter((line) => line.includes('connection closed'));
      expect(closed).toHaveLength(1);
      expect(closed[0]).toContain('more than 16 requests of one connection');
      expect(lines.length).toBeLessThanOrEqual(18); // one that was finished at once, 16 that were not, and the closing
      expect((await new Agent(server.baseUrl).get('/health/live')).status).toBe(200);
    },
  );

  it('is answered if it sends no more than the limit before it reads the responses', async () => {
    const { socket, received } = await sockets.open(server.baseUrl);
    for (const answered of [16, 32, 48]) {
      socket.write(get('/oauth/account', cookie).repeat(16));
      await expect.poll(() => received().match(/<\/html>/g)?.length).toBe(answered);
    }
  });
});
