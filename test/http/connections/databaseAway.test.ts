import { pino } from 'pino';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openDatabase } from '../../../src/store/database/database.ts';
import { whileLocked } from '../../support/account.ts';
import { linkTo, reachConsent, requestOf, signIn } from '../../support/flow.ts';
import { Agent } from '../../support/http/agent.ts';
import { openLine } from '../../support/http/line.ts';
import { ownDatabase } from '../../support/postgres/database.ts';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const TOKEN_REQUEST = { grant_type: 'authorization_code', code: 'x', client_id: 'x', redirect_uri: 'x' };
const SOON = { timeout: 20_000, interval: 10 };
const REQUEST = '/oauth/authorize?client_id=x';
const MINOR = ['warn', 'a database error, but the database responds'];

afterEach(() => server.close());

async function startOnLine() {
  const [database, line] = [await ownDatabase(), await openLine()];
  const pool = openDatabase(line.url(database));
  onTestFinished(() => pool.end());
  onTestFinished(() => line.close());
  server = await startServer({ database: { ...database, pool } });
  return { line, pool, agent: new Agent(server.baseUrl) };
}

/** The log lines above `info`: level, message and reason. */
function warnings(): unknown[] {
  return server.logLines
    .map((line) => JSON.parse(line) as { level: number; msg: string; reason?: string })
    .filter(({ level }) => level > 30)
    .map(({ level, msg, reason }) => [pino.levels.labels[level], msg, reason]);
}

async function isUp(): Promise<boolean> {
  const { body } = await new Agent(server.baseUrl).get('/metrics');
  return /^assent_database_up 1$/m.test(body);
}

describe('the server during a database outage', () => {
  it('answers 503 with Retry-After at once', async () => {
    const pool = openDatabase({ host: '127.0.0.1', port: 9, user: 'x', database: 'x' });
    server = await startServer({ database: { pool, url: '', drop: () => pool.end() } });
    const agent = new Agent(server.baseUrl);
    const page = await agent.get(REQUEST);
    const exchange = await agent.post('/oauth/token', TOKEN_REQUEST);
    const others = [await signIn(agent, 'a', 'b'), await agent.get('/health/ready')];
    expect([page.page, JSON.parse(exchange.body).error]).toEqual(['error', 'temporarily_unavailable']);
    for (const answer of [page, exchange, ...others]) {
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toBe('5');
      expect(answer.body).not.toMatch(/ECONN|127\.0\.0\.1:9|postgres/i);
    }
    expect((await agent.get('/health/live')).status).toBe(200);
    const reason =
      "the database can't be reached: while connecting to PostgreSQL: connect ECONNREFUSED 127.0.0.1:9";
    expect(warnings()).toEqual([['error', 'the database is unreachable', reason]]);
    expect(await isUp()).toBe(false);
    await pool.end();
  });

  it('reports a read-only database at the start, before the first request', async () => {
    const database = await ownDatabase();
    const name = new URL(database.url).pathname.slice(1);
    await database.pool.query(`alter database ${name} set default_transaction_read_only = on`);
    const pool = openDatabase(database.url);
    onTestFinished(() => pool.end());
    server = await startServer({ database: { ...database, pool } });
    const reason = expect.stringMatching(/^PostgreSQL accepts no writes: most likely it is a standby, .+/);
    await expect.poll(warnings, SOON).toEqual([['error', 'the database is unreachable', reason]]);
    const { status } = await new Agent(server.baseUrl).get('/health/ready');
    expect([await isUp(), status]).toEqual([false, 503]);
  });

  it('reports the outage when a query gets no answer', async () => {
    const { line, agent } = await startOnLine();
    expect((await agent.get('/health/ready')).status).toBe(200);
    line.cut();
    await expect.poll(async () => (await agent.get('/health/ready')).status, SOON).toBe(503);
    const away = ['error', 'the database is unreachable', 'no answer within 2 seconds'];
    expect([await isUp(), warnings()]).toEqual([false, [away]]);
    await expect.poll(isUp, SOON).toBe(true);
    expect(warnings()).toEqual([away, ['warn', 'the database is reachable again', undefined]]);
  });

  it('answers 503 if a connection is cut, closes it, and uses another one for the next request', async () => {
    const { line, pool, agent } = await startOnLine();
    const closed = vi.fn();
    pool.on('remove', closed);
    expect((await agent.get(REQUEST)).text).toContain('unauthorized_client');
    line.cut();
    expect((await agent.get(REQUEST)).status).toBe(503);
    expect((await agent.get(REQUEST)).text).toContain('unauthorized_client');
    expect(closed).toHaveBeenCalled();
  });

  it('limits the total time of a request, not only of each query', async () => {
    const { line, pool, agent } = await startOnLine();
    const [client, user] = [await server.createClient(), await server.createUser()];
    await reachConsent(agent, requestOf(client), user);
    // This request sends two queries in turn, each of which is answered in time.
    line.delay(4_000);
    const request = linkTo(requestOf(client));
    const page = await agent.get(request);
    expect([page.status, page.page, page.headers.get('retry-after')]).toEqual([503, 'error', '5']);
    await vi.waitFor(() => expect(pool.idleCount).toBe(pool.totalCount), SOON);
    line.delay(0);
    expect((await agent.get(request)).page).toBe('consent');
    // The handler's later answer is dropped silently.
    expect(warnings()).toEqual([]);
  });
});

describe('a reachable database', () => {
  it('is not reported unreachable for a cancelled statement, which is logged once', async () => {
    server = await startServer();
    const agent = new Agent(server.baseUrl);
    const exchange = () => agent.post('/oauth/token', TOKEN_REQUEST);
    expect((await whileLocked(server, 'client_secrets', exchange)).status).toBe(503);
    const cancelled = 'a statement was cancelled: it took too long, or an administrator cancelled it';
    const reason = `${cancelled} (canceling statement due to user request)`;
    await expect.poll(warnings, SOON).toEqual([[...MINOR, reason]]);
    expect(server.logLines.join('')).toContain('"rule":"a statement was cancelled (57014)"');
    expect(await isUp()).toBe(true);
  });

  it('is not reported unreachable for broken idle connections, which are logged once', async () => {
    server = await startServer();
    const { pool } = server.database;
    const agent = new Agent(server.baseUrl);
    await agent.get('/health/ready'); // what is asked at the start is answered
    for (let round = 0; round < 3; round += 1) {
      const connections = await Promise.all(Array.from({ length: 5 }, () => pool.connect()));
      for (const connection of connections) connection.release();
      const broken = new Promise((resolve) => pool.once('error', resolve));
      await pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`,
      );
      await broken;
      expect((await agent.get('/health/ready')).status).toBe(200);
    }
    const reason = expect.stringMatching(/^PostgreSQL ended the connection: .+ administrator command\)$/);
    await expect.poll(warnings, SOON).toEqual([[...MINOR, reason]]);
  });
});
