import { expect, it } from 'vitest';
import { Connection } from '../../bench/load/connection.mjs';
import { cpuSeconds, familyCpuSeconds } from '../../bench/usage.mjs';
import { openDatabase } from '../../src/store/database/database.ts';
import { migrate } from '../../src/store/schema/migrate.ts';
import { issue } from '../support/issuing.ts';
import { onDatabase, type ServerProcess, spawnServer } from '../support/process.ts';
import { startReplication } from '../support/replication.ts';
import { startServer } from '../support/server.ts';

const TOKENS = 10_000;
/** As many as one statement makes in time on a busy machine. */
const AT_ONCE = 500;
const CONNECTIONS = 64;
const SECONDS = 3;
const ROUNDS = 5;

interface Figures {
  readonly perSecond: number;
  /** CPU of each question, in microseconds. */
  readonly primary: number;
  readonly standbys: number;
  readonly server: number;
}

const median = (values: readonly number[]) => values.toSorted((x, y) => x - y)[values.length >> 1] ?? 0;

// Load, servers, primary and standbys share the machine: only the lines of one run are to be compared.
it('what a question costs whom, by where it is asked', async () => {
  const replication = await startReplication(['a', 'b']);
  const { primary } = replication;
  const pool = openDatabase(primary.url());
  await migrate(pool);
  const database = { pool, url: primary.url(), drop: async () => {} };
  const setup = await startServer({ database });
  const [client, user] = [await setup.createClient(), await setup.createUser()];
  const authorization = await setup.createResource();
  const tokens: string[] = [];
  while (tokens.length < TOKENS) tokens.push(...(await issue(pool, 'token', AT_ONCE, { client, user })));
  await setup.close();
  await primary.run('update grants set last_used_on = current_date'); // so that nothing is noted meanwhile
  await primary.run('vacuum analyze');
  await replication.caughtUp();
  const ways: Record<string, Record<string, string>> = {
    primary: {},
    strict: { DATABASE_READ_URL: replication.readUrl },
    'lag 2 s': { DATABASE_READ_URL: replication.readUrl, READ_LAG_MS: '2000' },
  };
  const servers = new Map<string, ServerProcess>();
  for (const [name, more] of Object.entries(ways)) {
    servers.set(
      name,
      await spawnServer({ ...onDatabase(primary.url()), HOST: '127.0.0.1', ...more, LOG_LEVEL: 'error' }),
    );
  }
  const requests = tokens.map((token) => {
    const body = `token=${token}`;
    const head = `POST /oauth/introspect HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\n`;
    return Buffer.from(
      `${head}content-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  });
  let next = 0;
  const measure = async (server: ServerProcess, seconds: number): Promise<Figures> => {
    const usage = () => ({
      primary: familyCpuSeconds(primary.pid),
      standbys: replication.standbys.reduce((sum, { pid }) => sum + familyCpuSeconds(pid), 0),
      server: cpuSeconds(server.pid),
    });
    const [before, begin] = [usage(), performance.now()];
    let answered = 0;
    const ask = async () => {
      const connection = new Connection(Number(new URL(server.baseUrl).port));
      while (performance.now() - begin < seconds * 1000) {
        next = (next + 7919) % TOKENS;
        const { body } = await connection.send(requests[next] as Buffer);
        if (!body.startsWith('{"active":true')) throw new Error(body);
        answered += 1;
      }
      connection.close();
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, ask));
    const [after, took] = [usage(), (performance.now() - begin) / 1000];
    const each = (of: keyof typeof after) => ((after[of] - before[of]) * 1e6) / answered;
    return {
      perSecond: answered / took,
      primary: each('primary'),
      standbys: each('standbys'),
      server: each('server'),
    };
  };
  try {
    for (const server of servers.values()) await measure(server, 2);
    const found = new Map<string, Figures[]>();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, server] of servers) {
        found.set(name, [...(found.get(name) ?? []), await measure(server, SECONDS)]);
      }
    }
    console.log('asked at     questions/s   CPU µs of each question: primary  standbys  server');
    for (const [name, figures] of found) {
      const of = (key: keyof Figures) =>
        median(figures.map((figure) => figure[key]))
          .toFixed(1)
          .padStart(9);
      console.log(
        `${name.padEnd(12)} ${of('perSecond')} ${of('primary').padStart(26)} ${of('standbys')} ${of('server')}`,
      );
    }
    expect(found.size).toBe(3);
  } finally {
    await Promise.all([...servers.values()].map((server) => server.stop()));
    await pool.end();
    await replication.remove();
  }
});
