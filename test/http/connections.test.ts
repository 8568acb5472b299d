import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Agent } from '../support/agent.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer | undefined;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close();
});

/** Opens a connection and says nothing. @returns whether the server lets it stand */
async function hangOn(port: number): Promise<boolean> {
  const socket = connect(port, 'localhost');
  sockets.push(socket);
  return new Promise((resolve) => {
    socket.once('close', () => resolve(false));
    socket.once('error', () => resolve(false));
    // What was turned away is closed before this is answered.
    socket.once('data', () => resolve(true));
    socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
  });
}

describe('open connections', () => {
  it('are limited: more are closed as they come, the log says so once, and there is room again afterwards', async () => {
    server = await startServer({ maxConnections: 10 });
    const port = Number(new URL(server.baseUrl).port);
    const stood = [];
    for (let n = 0; n < 15; n += 1) stood.push(await hangOn(port));
    expect(stood).toEqual([...Array(10).fill(true), ...Array(5).fill(false)]);
    expect(server.logLines.filter((line) => line.includes('MAX_CONNECTIONS'))).toHaveLength(1);
    for (const socket of sockets.splice(0)) socket.destroy();
    const agent = new Agent(server.baseUrl);
    await expect
      .poll(() =>
        agent.get('/health/live').then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(200);
  });
});
