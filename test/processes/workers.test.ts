import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { createDatabase, useDatabase } from '../support/database.ts';
import { clusterOf, makeDataDir, removeDataDir } from '../support/folder.ts';
import { processesOf, stillRunning } from '../support/launch.ts';
import { namesOf, type Series } from '../support/metrics.ts';
import { freePort } from '../support/server.ts';
import { freePair } from '../support/trial.ts';
import { knock, seriesOf, useServices, workersThatAnswered } from '../support/workers.ts';

// One server of several processes, as an operator starts it with WORKERS.

const database = await useDatabase();
const { begin, beginTwo } = useServices(database);

it('two workers share the requests of one address, and end in order by a signal', async () => {
  const service = await beginTwo();
  for (let turn = 0; turn < 8; turn += 1) expect(await knock(service)).toBe(400);
  await expect.poll(() => [...new Set(workersThatAnswered(service))].toSorted()).toEqual(['1', '2']);
  const family = service.launch.family();
  expect(family).toHaveLength(2);
  service.launch.kill('SIGTERM');
  expect(await service.launch.end).toEqual({ code: 0, signal: null });
  expect(stillRunning(family)).toEqual([]);
  expect(service.launch.output().match(/"msg":"stopped"/g)).toHaveLength(2);
});

it('a worker that dies has a successor, and the other one answers meanwhile', async () => {
  const service = await beginTwo();
  const [victim = 0, other] = service.launch.family();
  process.kill(victim, 'SIGKILL');
  await service.launch.says('"msg":"a worker ended by itself: another is started"');
  expect(await knock(service)).toBe(400);
  await expect.poll(() => service.launch.output().match(/"msg":"listening at/g)).toHaveLength(3);
  expect(service.launch.family()).toContain(other);
  expect(service.launch.family()).toHaveLength(2);
});

it('says once what keeps it from starting, and ends', async () => {
  const port = await freePort();
  const taken = createServer().listen(port, 'localhost');
  const { launch } = await begin({ WORKERS: '2', PORT: String(port) });
  expect(await launch.end).toEqual({ code: 1, signal: null });
  expect(launch.output().match(/can't listen on port/g)).toHaveLength(1);
  taken.close();
});

it('ends when the database refuses it', async () => {
  const other = await createDatabase();
  try {
    await other.pool.query(`insert into schema_migrations (version, name) values (9999, 'later')`);
    const { launch } = await begin({ WORKERS: '2' }, other);
    expect(await launch.end).toEqual({ code: 1, signal: null });
    expect(launch.output().match(/run a newer build/g)).toHaveLength(1);
  } finally {
    await other.drop();
  }
});

it('leaves no worker behind when the first process is killed', async () => {
  const service = await beginTwo();
  const family = service.launch.family();
  service.launch.kill('SIGKILL');
  await expect.poll(() => stillRunning(family)).toEqual([]);
});

it('is one demo application and one PostgreSQL in trial mode, which end with it', async () => {
  const folder = makeDataDir();
  const variables = { PORT: String(await freePair()), DATA_DIR: folder, DATABASE_URL: '', SECRETS: '' };
  const service = await beginTwo(variables);
  await service.launch.says('trial mode');
  expect(await knock(service)).toBe(400);
  service.launch.kill('SIGINT');
  expect(await service.launch.end).toEqual({ code: 0, signal: null });
  expect(service.launch.output().match(/trial mode/g)).toHaveLength(1);
  await expect.poll(() => processesOf(clusterOf(folder))).toEqual([]);
  expect(existsSync(`${clusterOf(folder)}/postmaster.pid`)).toBe(false);
  removeDataDir(folder);
});

/** How many requests of this route all workers have answered. */
function countRequests(series: Series): number {
  const found = [...series].filter(([one]) =>
    /^assent_requests_total\{.*route="\/oauth\/authorize"/.test(one),
  );
  return found.reduce((sum, [, value]) => sum + value, 0);
}

it.each([
  ['the public port', (): Promise<number | null> => Promise.resolve(null)],
  ['METRICS_PORT', (): Promise<number | null> => freePort()],
])('tells Prometheus of all workers at %s, and forgets nothing when one dies', async (_where, choosePort) => {
  const port = await choosePort();
  const service = await beginTwo(port === null ? {} : { METRICS_PORT: String(port) });
  const read = () => seriesOf(service, port === null ? service.baseUrl : `http://localhost:${port}`);
  for (let turn = 0; turn < 10; turn += 1) await knock(service);
  expect([...new Set(workersThatAnswered(service))].toSorted()).toEqual(['1', '2']);
  const before = await read();
  const started = before.get('process_start_time_seconds');
  expect(started).toBeGreaterThan(0);
  expect(before.get('assent_worker_ends_total')).toBe(0);
  for (let turn = 0; turn < 4; turn += 1) expect(countRequests(await read())).toBe(10);
  process.kill(service.launch.family()[0] ?? 0, 'SIGKILL');
  await service.launch.says('"msg":"a worker ended by itself: another is started"');
  for (let turn = 0; turn < 4; turn += 1) {
    const series = await read();
    expect(countRequests(series)).toBe(10);
    expect(series.get('assent_worker_ends_total')).toBe(1);
    expect(series.get('process_start_time_seconds')).toBe(started);
  }
});

it('tells Prometheus every metric that the alerts ask for', async () => {
  const rules = readFileSync(new URL('../../deploy/prometheus/assent.rules.yml', import.meta.url), 'utf8');
  const asked = [...new Set(rules.match(/\b(?:assent|nodejs|process)_\w+/g))];
  expect(asked).toContain('process_start_time_seconds');
  const service = await beginTwo();
  await knock(service);
  const missing = async () => {
    const told = namesOf(await seriesOf(service));
    return asked.filter((name) => !told.has(name));
  };
  await expect.poll(missing).toEqual([]); // what the database tells comes with the second one
});
