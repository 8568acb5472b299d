import { afterAll, expect, it } from 'vitest';
import { startLoad } from '../support/http/load.ts';
import { readSeries } from '../support/metrics.ts';
import { useDatabase } from '../support/postgres/database.ts';
import { onDatabase, type ServerProcess, spawnServer } from '../support/process/process.ts';
import { type Balancer, haproxy, hasHaproxy, tcpBalancer } from '../support/programs/balancer.ts';
import { freePort } from '../support/server.ts';

// Two replicas that are restarted in turn while many ask for pages through balancers: nobody may feel it.

if (!hasHaproxy) console.log('Not tested: rolling restarts behind HAProxy, which is not installed.');

const database = await useDatabase();
const replicas: { readonly port: number; server: ServerProcess }[] = [];
const open: { close(): Promise<void> }[] = [];

const variables = { ...onDatabase(database.url), DRAIN_SECONDS: '1', TRUST_PROXY: '1' };
const start = (port: number) => spawnServer({ ...variables, PORT: String(port) });

for (let count = 0; count < 2; count += 1) {
  const port = await freePort();
  replicas.push({ port, server: await start(port) });
}

afterAll(async () => {
  await Promise.all(open.map((each) => each.close()));
  await Promise.all(replicas.map(({ server }) => server.stop()));
});

/** How many pages a replica has answered, from its metrics. */
async function answersOf({ server }: (typeof replicas)[number]): Promise<number> {
  const series = readSeries(await (await fetch(`${server.baseUrl}/metrics`)).text());
  return series.get('assent_request_seconds_count{route="/oauth/authorize"}') ?? 0;
}

const FAST = 'inter 300ms fall 1 rise 1';
/** What each sends, so that all of them together don't keep the replicas from answering checks. */
const CONNECTIONS = 4;

it('fails no request during a rolling restart, with any load balancer', async () => {
  const ports = replicas.map(({ port }) => port);
  const ways: [name: string, balancer: Balancer, keepAlive: boolean][] = [
    ['TCP', await tcpBalancer(ports), false],
    ['kept TCP', await tcpBalancer(ports), true],
  ];
  if (hasHaproxy) ways.push(['HAProxy', await haproxy(ports, FAST), true]);
  open.push(...ways.map(([, balancer]) => balancer));
  const loads = ways.map(([, { port }, keepAlive]) =>
    startLoad(`http://localhost:${port}`, { connections: CONNECTIONS, keepAlive }),
  );
  const goOn = () => Promise.all(loads.map((load) => load.answered(30)));
  for (const replica of replicas) {
    await goOn();
    expect(await replica.server.stop()).toBe(0);
    await goOn();
    replica.server = await start(replica.port);
    await expect.poll(() => answersOf(replica)).toBeGreaterThan(100); // all have found it again
  }
  await Promise.all(loads.map((load) => load.stop()));
  const failures = loads.map((load, index) => [ways[index]?.[0], load.failures]);
  expect(failures).toEqual(ways.map(([name]) => [name, {}]));
});
