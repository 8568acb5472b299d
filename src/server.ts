import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { holdBack } from './databaseStart.ts';
import { closeBeforeEnd } from './ending.ts';
import type { Context } from './flows/context.ts';
import { examineStandbys } from './flows/standbyFindings.ts';
import { Standbys } from './flows/standbys.ts';
import { buildApp } from './http/app.ts';
import { buildMetricsApp } from './http/metrics/server.ts';
import { drain } from './http/server/draining.ts';
import { addressesOf, listenAt } from './http/server/listen.ts';
import { openStore, type Store } from './openStore.ts';
import { DRAIN_MS } from './rules/timeouts.ts';
import { KeyRing } from './secrets/keyRing.ts';
import { sharePasswordThreads } from './secrets/password.ts';
import { trialSecrets, welcome } from './trial/welcome.ts';
import { metricsOfAll } from './workerMetrics.ts';

/** What runs, in the order in which it was started. */
interface Running {
  readonly store: Store;
  readonly servers: FastifyInstance[];
  /** The port of the metrics, which are told until the end. */
  metrics?: FastifyInstance;
}

/**
 * Serves in this process until a signal: HTTP, database, then drain and close.
 *
 * @throws what kept it from starting and does not pass by waiting; nothing is left running then
 */
export async function runServer(config: Config, log: Logger): Promise<void> {
  sharePasswordThreads(config.workers);
  const running: Running = { store: await openStore(config, log, 'server'), servers: [] };
  try {
    await start(running, config, log);
  } catch (error) {
    await drainAndClose(running);
    throw error;
  }
  closeBeforeEnd(async (cause) => {
    if (cause !== 'error') await drainServer(running, config, cause, log);
    await drainAndClose(running);
    log.info('stopped');
    return cause !== 'error';
  }, config.drainMs);
}

/** It listens before the database is there: whoever asks whether it lives or is ready has an answer from then on. */
async function start(running: Running, config: Config, log: Logger): Promise<void> {
  const { store, servers } = running;
  const migrate = holdBack(store);
  const app = await openHttp(config, store, log);
  servers.push(app);
  await listen(app, config, config.port, config.baseUrl);
  const { metricsPort, metricsToken } = config;
  if (metricsPort !== null) {
    running.metrics = buildMetricsApp(app.metricsSource, metricsToken, log);
    await listen(running.metrics, config, metricsPort, 'Prometheus');
  }
  // From here on the app watches the database: closed first, it doesn't report the one that is being left.
  closeBeforeEnd(async () => {
    void app.close();
    await store.abandon();
    return false;
  });
  await migrate(log);
  void sayOfStandbys(store, log);
  if (config.databaseUrl !== null || (config.worker ?? 1) > 1) return;
  const demo = await welcome(config, store.pool, log);
  if (demo !== null) servers.push(demo);
}

/** Logs what is wrong with the standbys or could be better; not that the primary is away, which the log says elsewhere. */
async function sayOfStandbys({ standbys }: Store, log: Logger): Promise<void> {
  for (const { level, text, remedy } of await examineStandbys(standbys).catch(() => [])) {
    if (level !== 'ok') log.warn({ remedy }, text);
  }
}

function openHttp(
  config: Config,
  { pool: db, standbys: hosts }: Store,
  log: Logger,
): Promise<FastifyInstance> {
  const keyRing = new KeyRing(config.secrets ?? trialSecrets(config.dataDir));
  const { baseUrl, brand, catalogue, directory, currency, timeZone } = config;
  const { codeLifetimeSeconds, maxInstances, trustProxy, maxConnections } = config;
  const limits = { codeLifetimeSeconds, maxInstances };
  const showsRules = config.databaseUrl === null;
  const words = { brand, catalogue, directory, currency, timeZone };
  const standbys = hosts.length === 0 ? null : new Standbys(hosts, log);
  const context: Context = { db, standbys, keyRing, baseUrl, ...words, ...limits, showsRules };
  const ofAll = config.worker === null ? undefined : metricsOfAll;
  const metrics = { areHere: config.metricsPort === null, token: config.metricsToken, ofAll };
  return buildApp({ context, log, trustProxy, maxConnections, metrics });
}

async function listen(app: FastifyInstance, { host }: Config, port: number, whom: string): Promise<void> {
  const describe = (address: string) => `listening at ${address} for ${whom}`;
  try {
    await listenAt(app, await addressesOf(host), port, describe);
  } catch (error) {
    const cause = error as NodeJS.ErrnoException;
    const why =
      cause.code === 'EADDRINUSE'
        ? `it is taken: choose another with ${whom === 'Prometheus' ? 'METRICS_PORT' : 'PORT'}`
        : cause.message;
    throw new Error(`can't listen on port ${port} of ${host}: ${why}`, { cause });
  }
}

async function drainServer(
  { servers: [app] }: Running,
  { drainMs }: Config,
  signal: NodeJS.Signals,
  log: Logger,
): Promise<void> {
  const drain_seconds = drainMs / 1000;
  log.info({ signal, drain_seconds }, 'stopping: requests under way are finished first');
  if (app !== undefined) await drain(app, drainMs);
}

async function drainAndClose({ servers, store, metrics }: Running): Promise<void> {
  const closed = Promise.all(servers.map((server) => server.close()));
  // A client that is slow to send its request can't keep the server from ending.
  await Promise.race([closed, setTimeout(DRAIN_MS, undefined, { ref: false })]);
  await metrics?.close();
  await store.close();
}
