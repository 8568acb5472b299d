import { connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { Agent } from '../support/agent.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { signIn } from '../support/flow.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
const TOKEN_REQUEST = { grant_type: 'authorization_code', code: 'x', client_id: 'x', redirect_uri: 'x' };
const REQUEST = '/oauth/authorize?client_id=x';

afterEach(async () => {
  await server.close();
});

describe('while the database is away', () => {
  it('answers calmly and at once: 503, with the time to wait', async () => {
    const pool = openDatabase({ host: '127.0.0.1', port: 9, user: 'x', database: 'x' }, () => {});
    server = await startServer({ database: { pool, url: '', drop: () => pool.end() } });
    const agent = new Agent(server.baseUrl);
    for (const answer of [
      await agent.get(REQUEST),
      await signIn(agent, 'a', 'b'),
      await agent.post('/oauth/token', TOKEN_REQUEST),
      await agent.get('/health/ready'),
    ]) {
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toBe('5');
      expect(answer.body).not.toMatch(/ECONN|127\.0\.0\.1:9|postgres/i);
    }
    expect((await agent.get(REQUEST)).page).toBe('error');
    expect(JSON.parse((await agent.post('/oauth/token', TOKEN_REQUEST)).body)).toMatchObject({
      error: 'temporarily_unavailable',
    });
    expect((await agent.get('/health/live')).status).toBe(200);
    await pool.end();
  });

  it('does not wait for a database that is cut off, and asks another connection next time', async () => {
    const database = await createDatabase();
    const line = await openLine();
    const pool = openDatabase(
      { host: '127.0.0.1', port: line.port, user: 'assent', database: nameOf(database) },
      () => {},
    );
    server = await startServer({ database: { ...database, pool } });
    try {
      const agent = new Agent(server.baseUrl);
      expect((await agent.get(REQUEST)).text).toContain('unauthorized_client');
      line.cut();
      expect((await agent.get(REQUEST)).status).toBe(503);
      expect((await agent.get(REQUEST)).text).toContain('unauthorized_client');
    } finally {
      line.close();
      await pool.end();
      await database.drop();
    }
  });
});

/** A line to PostgreSQL that can go dead without a word to either end, as networks do. */
async function openLine(): Promise<{ port: number; cut(): void; close(): void }> {
  const { host, port } = inject('postgres');
  const lines: [Socket, Socket][] = [];
  const server = createServer((near) => {
    const far = connect(`${host}/.s.PGSQL.${port}`);
    lines.push([near, far]);
    for (const end of [near, far]) end.on('error', () => undefined);
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    cut() {
      for (const [near, far] of lines) near.unpipe(far).pause();
    },
    close() {
      for (const end of lines.flat()) end.destroy();
      server.close();
    },
  };
}

function nameOf({ url }: TestDatabase): string {
  return new URL(url).pathname.slice(1);
}
