import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { it } from 'vitest';
import { useDatabase } from '../../support/database.ts';
import { onDatabase, spawnServer } from '../../support/process.ts';
import { drawDashboard } from './draw.ts';
import { prepareLoad } from './load.ts';
import { startPrometheus } from './prometheus.ts';

/** Above the five minutes over which the dashboard's rates are taken. */
const MINUTES = Number(process.env.MINUTES ?? 8);

it('draws the dashboard from a Prometheus that read two servers under load', async () => {
  const picture = fileURLToPath(new URL('../../../docs/dashboard.png', import.meta.url));
  mkdirSync(fileURLToPath(new URL('.', import.meta.url)), { recursive: true });
  const database = await useDatabase();
  const servers = [await spawnServer(onDatabase(database.url)), await spawnServer(onDatabase(database.url))];
  const prometheus = await startPrometheus(servers.map(({ baseUrl }) => new URL(baseUrl).host));
  const load = await prepareLoad(
    database,
    servers.map(({ baseUrl }) => baseUrl),
  );
  await load(MINUTES * 60_000);
  await drawDashboard(prometheus.url, MINUTES * 60, picture);
  await prometheus.stop();
  for (const server of servers) await server.stop();
});
