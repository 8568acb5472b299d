import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createDatabase, type TestDatabase, useDatabase } from '../support/database.ts';
import { clusterOf, makeDataDir, removeDataDir } from '../support/folder.ts';
import { ASSENT, Launch, processesOf, stillRunning } from '../support/launch.ts';
import { onDatabase } from '../support/process.ts';
import { freePort } from '../support/server.ts';
import { freePair } from '../support/trial.ts';

// One server of several processes, as an operator starts it with WORKERS.

const database = await useDatabase();
const launches: Launch[] = [];

afterEach(async () => {
  for (const launch of launches.splice(0)) {
    const family = launch.family();
    for (const pid of stillRunning([launch.pid, ...family])) process.kill(pid, 'SIGKILL');
    await launch.end;
  }
});

interface Service {
  readonly launch: Launch;
  readonly baseUrl: string;
}

async function begin(variables: Record<string, string>, { url }: TestDatabase = database): Promise<Service> {
  const port = variables.PORT ?? String(await freePort());
  const baseUrl = `http://localhost:${port}`;
  const all = { ...onDatabase(url), LOG_LEVEL: 'info', PORT: port, BASE_URL: baseUrl, ...variables };
  const launch = new Launch([...ASSENT, 'serve'], all);
  launches.push(launch);
  return { launch, baseUrl };
}

/** The workers that have started, each once; others of the family are the shell's. */
const listening = ({ launch }: Service) =>
  new Set([...launch.output().matchAll(/"worker":(\d+),"msg":"listening at/g)].map(([, worker]) => worker));

async function beginTwo(variables: Record<string, string> = {}): Promise<Service> {
  const service = await begin({ WORKERS: '2', ...variables });
  await expect.poll(() => [...listening(service)].toSorted()).toEqual(['1', '2']);
  return service;
}

/** Asks over a connection of its own. */
async function knock({ baseUrl }: Service, host = 'localhost'): Promise<number> {
  const url = `${baseUrl.replace('localhost', host)}/oauth/authorize?client_id=x`;
  const answer = await fetch(url, { headers: { connection: 'close' } });
  await answer.arrayBuffer();
  return answer.status;
}

/** Which workers have answered requests, by the log. */
const answered = ({ launch }: Service) =>
  new Set([...launch.output().matchAll(/"worker":(\d+),[^\n]*"msg":"request"/g)].map(([, worker]) => worker));

it('two workers share the requests of one address, and end in order by a signal', async () => {
  const service = await beginTwo();
  for (let turn = 0; turn < 8; turn += 1) expect(await knock(service)).toBe(400);
  await expect.poll(() => [...answered(service)].toSorted()).toEqual(['1', '2']);
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

/** How many requests of this route all workers have answered, as Prometheus reads it. */
async function counted(metricsUrl: string): Promise<number> {
  const lines = (await (await fetch(metricsUrl)).text()).split('\n');
  const found = lines.filter((line) => /^assent_requests_total\{.*route="\/oauth\/authorize"/.test(line));
  return found.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

it.each([
  ['the public port', (): Promise<number | null> => Promise.resolve(null)],
  ['METRICS_PORT', (): Promise<number | null> => freePort()],
])('tells Prometheus of all workers at %s, and forgets nothing when one dies', async (_where, choosePort) => {
  const port = await choosePort();
  const service = await beginTwo(port === null ? {} : { METRICS_PORT: String(port) });
  const url = `${port === null ? service.baseUrl : `http://localhost:${port}`}/metrics`;
  for (let turn = 0; turn < 10; turn += 1) await knock(service);
  expect([...answered(service)].toSorted()).toEqual(['1', '2']);
  for (let turn = 0; turn < 4; turn += 1) expect(await counted(url)).toBe(10);
  process.kill(service.launch.family()[0] ?? 0, 'SIGKILL');
  await service.launch.says('"msg":"a worker ended by itself: another is started"');
  for (let turn = 0; turn < 4; turn += 1) expect(await counted(url)).toBe(10);
});
