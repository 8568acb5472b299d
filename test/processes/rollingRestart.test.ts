import { afterAll, expect, it } from 'vitest';
import { startLoad } from '../support/http/load.ts';
import { readSeries } from '../support/metrics.ts';
import { useDatabase } from '../support/postgres/database.ts';
import { onDatabase, type ServerProcess, spawnServer } from '../support/process/process.ts';
import { tcpBalancer } from '../support/programs/balancer.ts';
import { PROXIES, startProxy } from '../support/programs/proxies.ts';
import { freePort } from '../support/server.ts';

// Two replicas are restarted in turn under requests through balancers, none of which may fail.

const haproxy = PROXIES.find(({ name, version }) => name === 'HAProxy' && version !== undefined);
if (haproxy === undefined)
  console.log('Not tested: rolling restarts behind HAProxy, which is not installed.');

const database = await useDatabase();
const replicas: { readonly port: number; server: ServerProcess }[] = [];
const open: (() => Promise<void>)[] = [];

const variables = { ...onDatabase(database.url), DRAIN_SECONDS: '5', TRUST_PROXY: '1' };
const start = (port: number) => spawnServer({ ...variables, PORT: String(port) });

for (let count = 0; count < 2; count += 1) {
  const port = await freePort();
  replicas.push({ port, server: await start(port) });
}

afterAll(async () => {
  await Promise.all(open.map((close) => close()));
  await Promise.all(replicas.map(({ server }) => server.stop()));
});

async function answersOf({ server }: (typeof replicas)[number]): Promise<number> {
  const series = readSeries(await (await fetch(`${server.baseUrl}/metrics`)).text());
  return series.get('assent_request_seconds_count{route="/oauth/authorize"}') ?? 0;
}

it('no request fails during a rolling restart behind a TCP load balancer or HAProxy', async () => {
  const [one, two] = replicas.map(({ port }) => port) as [number, number];
  const ways: [name: string, baseUrl: string, keepAlive: boolean][] = [];
  for (const name of ['TCP', 'kept TCP']) {
    const { port, close } = await tcpBalancer([one, two]);
    open.push(close);
    ways.push([name, `http://localhost:${port}`, name === 'kept TCP']);
  }
  if (haproxy !== undefined) {
    const { baseUrl, stop } = await startProxy(haproxy, await freePort(), [one, two]);
    open.push(stop);
    ways.push(['HAProxy', baseUrl, true]);
  }
  // Fewer than HAProxy's limit for a network, and few enough that the replicas still answer checks.
  const each = { connections: 2, pauseMs: 30 };
  const loads = ways.map(([, baseUrl, keepAlive]) => startLoad(baseUrl, { ...each, keepAlive }));
  const goOn = () => Promise.all(loads.map((load) => load.answered(30)));
  for (const replica of replicas) {
    await goOn();
    expect(await replica.server.stop()).toBe(0);
    await goOn();
    replica.server = await start(replica.port);
    await expect.poll(() => answersOf(replica)).toBeGreaterThan(100); // every balancer uses it again
  }
  await Promise.all(loads.map((load) => load.stop()));
  const failures = loads.map((load, index) => [ways[index]?.[0], load.failures]);
  expect(failures).toEqual(ways.map(([name]) => [name, {}]));
});
