import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { type Config, readConfig } from './config.ts';
import { closeBeforeEnd, end, endWithParent } from './ending.ts';
import type { Context } from './flows/context.ts';
import { examineStandbys } from './flows/standbyFindings.ts';
import { Standbys } from './flows/standbys.ts';
import { buildApp } from './http/app.ts';
import { addressesOf, listenAt } from './http/server/listen.ts';
import { openLog } from './log.ts';
import { openMigratedStore, type Store } from './openStore.ts';
import { DRAIN_MS } from './rules/timeouts.ts';
import { KeyRing } from './secrets/keyRing.ts';
import { trialSecrets, welcome } from './trial/welcome.ts';
import { setV8Flags } from './v8Flags.ts';

/** What runs, in the order in which it was started. */
interface Running {
  readonly store: Store;
  readonly servers: FastifyInstance[];
}

/**
 * Runs the server until a signal: configuration, log, database, HTTP, then drain and close.
 *
 * @throws what kept it from starting; nothing is left running then
 */
export async function serve(): Promise<void> {
  setV8Flags();
  const config = readConfig();
  const log = openLog(config.logLevel);
  endByUncaughtError(log);
  if (config.startedByNpm) endWithParent();
  const running: Running = { store: await openMigratedStore(config, log), servers: [] };
  try {
    await start(running, config, log);
  } catch (error) {
    await drainAndClose(running);
    throw error;
  }
  closeBeforeEnd(async (cause) => {
    if (cause !== 'error') log.info({ signal: cause }, 'stopping: requests under way are finished first');
    await drainAndClose(running);
    log.info('stopped');
    return cause !== 'error';
  });
}

/** The first uncaught error ends the server in order; a second one meanwhile ends it at once. */
function endByUncaughtError(log: Logger): void {
  let broken = false;
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'stopping after an error that nothing caught');
    if (broken) process.exit(1);
    broken = true;
    end('error');
  });
}

async function start({ store, servers }: Running, config: Config, log: Logger): Promise<void> {
  const app = await openHttp(config, store, log);
  servers.push(app);
  await listen(app, config);
  void sayOfStandbys(store, log);
  // From here on the app watches the database: closed first, it doesn't report the one that is being left.
  closeBeforeEnd(async () => {
    void app.close();
    await store.abandon();
    return false;
  });
  if (config.databaseUrl !== null) return;
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
  return buildApp({ context, log, trustProxy, maxConnections });
}

async function listen(app: FastifyInstance, { host, port, baseUrl }: Config): Promise<void> {
  const describe = (address: string) => `listening at ${address} for ${baseUrl}`;
  try {
    await listenAt(app, await addressesOf(host), port, describe);
  } catch (error) {
    const cause = error as NodeJS.ErrnoException;
    const why = cause.code === 'EADDRINUSE' ? 'it is taken: choose another with PORT' : cause.message;
    throw new Error(`can't listen on port ${port} of ${host}: ${why}`, { cause });
  }
}

async function drainAndClose({ servers, store }: Running): Promise<void> {
  const closed = Promise.all(servers.map((server) => server.close()));
  // A client that is slow to send its request can't keep the server from ending.
  await Promise.race([closed, setTimeout(DRAIN_MS, undefined, { ref: false })]);
  await store.close();
}
