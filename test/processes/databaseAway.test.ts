import { afterAll, describe, expect, it } from 'vitest';
import { readSeries } from '../support/metrics.ts';
import { OwnPostgres } from '../support/postgres/ownPostgres.ts';
import { commandsOn } from '../support/process/commands.ts';
import { onDatabase, spawnServer } from '../support/process/process.ts';

// A real server logs and reports that its PostgreSQL stops, starts and becomes a standby.

const postgres = new OwnPostgres();
afterAll(() => postgres.remove());
await postgres.start();
await postgres.run('create role crowded login connection limit 0');
const server = await spawnServer({ ...onDatabase(postgres.url()), LOG_LEVEL: 'info' });
afterAll(() => server.stop());

/** The log, without an incomplete line at its end. */
const lines = () => [...server.output().matchAll(/.+(?=\n)/g)].map(([line]) => JSON.parse(line));

const news = () =>
  lines()
    .filter(({ msg }) => String(msg).startsWith('the database is'))
    .map(({ time: _, ...news }) => news);

/** Requests a page that is an error, 400, also while the database is reachable. @returns the status */
async function knock(): Promise<number> {
  const answer = await fetch(`${server.baseUrl}/oauth/authorize?client_id=x`);
  await answer.arrayBuffer();
  return answer.status;
}

/** Knocks, eight at a time, at least so often and until `enough`. @returns the number of answers with 503 */
async function refusals(atLeast: number, enough: () => boolean): Promise<number> {
  let [sent, refused] = [0, 0];
  const knocker = async () => {
    while (sent < atLeast || !enough()) {
      sent += 1;
      const status = await knock();
      expect([400, 503]).toContain(status);
      if (status === 503) refused += 1;
    }
  };
  await Promise.all(Array.from({ length: 8 }, knocker));
  return refused;
}

const metric = async (name: string) =>
  readSeries(await (await fetch(`${server.baseUrl}/metrics`)).text()).get(name);

const ready = async () => (await fetch(`${server.baseUrl}/health/ready`)).status;
const NO_WRITES =
  /^PostgreSQL accepts no writes: most likely it is a standby, so connect to the primary \(.+\)\s*$/;
const UNAVAILABLE = 'assent_unavailable_total{reason="database"}';

describe('a server whose PostgreSQL stops and starts', () => {
  it('logs an outage once and its end once, with the number of refused requests, and no health checks', async () => {
    expect([await metric('assent_database_up'), await metric(UNAVAILABLE)]).toEqual([1, 0]);
    expect(await knock()).toBe(400);

    const before = refusals(50, () => server.output().includes('the database is unreachable'));
    await postgres.stop();
    const early = await before;
    expect([await metric('assent_database_up'), await ready()]).toEqual([0, 503]);
    const during = await refusals(300, () => true);
    expect(during).toBeGreaterThanOrEqual(300);
    const after = refusals(0, () => server.output().includes('the database is reachable again'));
    await postgres.start();
    const refused = early + during + (await after);

    const AWAY = /^(the database can't be reached|PostgreSQL accepts no connections now): /;
    expect(news()).toEqual([
      { level: 'error', reason: expect.stringMatching(AWAY), msg: 'the database is unreachable' },
      { level: 'warn', away_seconds: expect.any(Number), refused, msg: 'the database is reachable again' },
    ]);
    expect(lines().filter(({ level }) => level === 'error')).toHaveLength(1);
    expect(server.output()).not.toMatch(/"stack"|node:internal/);
    const refusedLines = () => lines().filter(({ status }) => status === 503);
    await expect.poll(refusedLines).toHaveLength(refused);
    const rule = expect.stringMatching(/^(the database|PostgreSQL) .+ \(.+\)$/);
    for (const line of refusedLines())
      expect(line).toMatchObject({ level: 'info', error: 'temporarily_unavailable', rule });
    const [isUp, unavailable] = [await metric('assent_database_up'), await metric(UNAVAILABLE)];
    expect([isUp, unavailable, await ready()]).toEqual([1, refused, 200]);
    expect(server.output()).not.toContain('/health/ready');
  });

  it('logs that the database came back as a standby, and is ready again after its promotion', async () => {
    const told = news().length;
    await postgres.stop();
    await expect.poll(ready).toBe(503);
    postgres.becomeStandby();
    await postgres.start();
    const since = () => news().slice(told);
    await expect.poll(since).toHaveLength(2);
    expect(since()).toEqual([
      { level: 'error', reason: expect.any(String), msg: 'the database is unreachable' },
      { level: 'error', reason: expect.stringMatching(NO_WRITES), msg: 'the database is still unreachable' },
    ]);
    expect([await metric('assent_database_up'), await ready()]).toEqual([0, 503]);

    const create = 'client create --name Shop --redirect-uri https://shop.example/';
    const { assent, refused } = commandsOn(onDatabase(postgres.url()));
    expect(await refused(create, 1)).toMatch(NO_WRITES);

    await postgres.run('select pg_promote()');
    await expect.poll(ready).toBe(200);
    await expect.poll(() => since().at(2)?.msg).toBe('the database is reachable again');
    expect((await assent(create)).code).toBe(0);
    expect(server.output()).not.toContain('/health/ready');
  });
});

it.each([
  ['rejects this role', 'role "stranger" does not exist', 'postgres', 'stranger'],
  ['has no such database', 'database "nothing" does not exist', 'nothing', 'assent'],
  ['has no free connection', 'too many connections for role "crowded"', 'postgres', 'crowded'],
])('a command explains in one line that PostgreSQL %s', async (sentence, cause, database, role) => {
  const { refused } = commandsOn({ DATABASE_URL: postgres.url(database, role) });
  expect(await refused('client block x', 1)).toMatch(
    new RegExp(`^PostgreSQL ${sentence}: .+ \\(.*${cause}.*\\)\n$`),
  );
});

it('a command reports that PostgreSQL is shutting down, and a server then ends normally', async () => {
  await postgres.beginToStop();
  expect(await commandsOn(onDatabase(postgres.url())).refused('client list', 1)).toMatch(
    /^PostgreSQL accepts no connections now: .+ \(while connecting to PostgreSQL: the database system is shutting down\)\n$/,
  );
  await postgres.stop();
  await expect.poll(ready).toBe(503);
  expect(await server.stop()).toBe(0);
});
