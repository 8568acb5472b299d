import { afterEach, describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { Agent } from '../support/agent.ts';
import { createDatabase } from '../support/database.ts';
import { reachConsent, requestOf, signIn } from '../support/flow.ts';
import { openLine } from '../support/line.ts';
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
    const pool = openDatabase(line.url(database), () => {});
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

  it('does not add up what a request waits for', async () => {
    const database = await createDatabase();
    const line = await openLine();
    const pool = openDatabase(line.url(database), () => {});
    server = await startServer({ database: { ...database, pool } });
    try {
      const [client, user] = [await server.createClient(), await server.createUser()];
      const agent = new Agent(server.baseUrl);
      await reachConsent(agent, requestOf(client), user);
      // Whoever asks has two questions in turn here, each of which is answered in time.
      line.delay(3_500);
      const page = await agent.get(`/oauth/authorize?${new URLSearchParams(requestOf(client))}`);
      expect([page.status, page.page, page.headers.get('retry-after')]).toEqual([503, 'error', '5']);
      await vi.waitFor(() => expect(pool.idleCount).toBe(pool.totalCount), { timeout: 5_000 });
      line.delay(0);
      expect((await agent.get(`/oauth/authorize?${new URLSearchParams(requestOf(client))}`)).page).toBe(
        'consent',
      );
      // What the handler answers after that is dropped without a word.
      expect(server.logLines.filter((entry) => JSON.parse(entry).level > 30)).toEqual([]);
    } finally {
      line.close();
      await pool.end();
      await database.drop();
    }
  });
});
