import { afterEach, expect } from 'vitest';
import type { TestDatabase } from './database.ts';
import { ASSENT, Launch, stillRunning } from './launch.ts';
import { readSeries, type Series } from './metrics.ts';
import { onDatabase } from './process.ts';
import { freePort } from './server.ts';

/** A server as an operator starts it with `WORKERS`. */
export interface Service {
  readonly launch: Launch;
  readonly baseUrl: string;
}

/** Services for the tests of a file; none is left after each. */
export function useServices(database: TestDatabase) {
  const launches: Launch[] = [];
  afterEach(async () => {
    for (const launch of launches.splice(0)) {
      const family = launch.family();
      for (const pid of stillRunning([launch.pid, ...family])) process.kill(pid, 'SIGKILL');
      await launch.end;
    }
  });

  /** @param command `assent`, as this service is to be called */
  async function begin(
    variables: Record<string, string>,
    { url } = database,
    command: readonly string[] = ASSENT,
  ): Promise<Service> {
    const port = variables.PORT ?? String(await freePort());
    const baseUrl = `http://localhost:${port}`;
    const all = { ...onDatabase(url), LOG_LEVEL: 'info', PORT: port, BASE_URL: baseUrl, ...variables };
    const launch = new Launch([...command, 'serve'], all);
    launches.push(launch);
    return { launch, baseUrl };
  }

  async function beginTwo(
    variables: Record<string, string> = {},
    command: readonly string[] = ASSENT,
  ): Promise<Service> {
    const service = await begin({ WORKERS: '2', ...variables }, database, command);
    await expect.poll(() => listening(service).toSorted()).toEqual(['1', '2']);
    return service;
  }

  return { begin, beginTwo };
}

/** The workers that have started, each once; others of the family are the shell's. */
function listening({ launch }: Service): string[] {
  const lines = launch.output().matchAll(/"worker":(\d+),"msg":"listening at/g);
  return [...new Set([...lines].map(([, worker = '']) => worker))];
}

/** Asks over a connection of its own. */
export async function knock({ baseUrl }: Service, host = 'localhost'): Promise<number> {
  const url = `${baseUrl.replace('localhost', host)}/oauth/authorize?client_id=x`;
  const answer = await fetch(url, { headers: { connection: 'close' } });
  await answer.arrayBuffer();
  return answer.status;
}

/** Which worker has answered each request, by the log. */
export function workersThatAnswered({ launch }: Service): string[] {
  const lines = launch.output().matchAll(/"worker":(\d+),[^\n]*"msg":"request"/g);
  return [...lines].map(([, worker = '']) => worker);
}

/** What Prometheus reads of all workers. @param address of `METRICS_PORT`, where that is set */
export async function seriesOf({ baseUrl }: Service, address = baseUrl): Promise<Series> {
  const answer = await fetch(`${address}/metrics`, { headers: { connection: 'close' } });
  return readSeries(await answer.text());
}
