import { afterEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { Agent } from '../support/agent.ts';
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
      await agent.post('/sign-in', { login: 'a', password: 'b' }),
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

  it('does not wait for a database that is frozen, and asks another connection next time', async () => {
    server = await startServer();
    const agent = new Agent(server.baseUrl);
    const { pool } = server.database;
    const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
    const frozen = rows[0]?.pid ?? 0;
    process.kill(frozen, 'SIGSTOP');
    try {
      expect((await agent.get(REQUEST)).status).toBe(503);
      expect((await agent.get(REQUEST)).text).toContain('unauthorized_client');
    } finally {
      process.kill(frozen, 'SIGCONT');
    }
  });
});
