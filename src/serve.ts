import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { type Config, readConfig } from './config.ts';
import { closeBeforeEnd, end, endWithParent } from './ending.ts';
import { tuneEngine } from './engine.ts';
import type { Context } from './flows/context.ts';
import { buildApp } from './http/app.ts';
import { addressesOf, listenAt } from './http/server/listen.ts';
import { openLog } from './log.ts';
import { openMigratedStore, type Store } from './openStore.ts';
import { KeyRing } from './secrets/keyRing.ts';
import { buildDemo } from './trial/demoApp.ts';
import { type Demo, prepareDemo, trialSecrets } from './trial/demoData.ts';
import { leaveEmbeddedPostgres } from './trial/postgres/join.ts';

/** How long requests under way may take to finish after a signal: longer than any statement may. */
const DRAIN_MS = 7_000;

/** What runs, in the order in which it was started. */
interface Running {
  readonly servers: FastifyInstance[];
  readonly store: Store;
}

/**
 * Runs the server until a signal: configuration, log, database, HTTP, then drain and close.
 *
 * @throws what kept it from starting; nothing is left running then
 */
export async function serve(): Promise<void> {
  tuneEngine();
  const config = readConfig();
  const log = openLog(config.logLevel);
  endByUncaughtError(log);
  if (config.startedByNpm) endWithParent();
  const running = await start(config, log);
  closeBeforeEnd(async (cause) => {
    if (cause !== 'error') log.info({ signal: cause }, 'stopping: requests under way are finished first');
    await stop(running);
    log.info('stopped');
    return cause !== 'error';
  });
}

/** The first such error ends the server in order; with another one meanwhile there is no order to hope for. */
function endByUncaughtError(log: Logger): void {
  let broken = false;
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'stopping after an error that nothing caught');
    if (broken) process.exit(1);
    broken = true;
    end('error');
  });
}

async function start(config: Config, log: Logger): Promise<Running> {
  const running: Running = { servers: [], store: await openMigratedStore(config, log) };
  try {
    running.servers.push(await listen(config, running.store, log));
    // A start that is broken off from here on does not find its database away because it left it.
    closeBeforeEnd(async () => {
      void running.servers[0]?.close();
      await leaveEmbeddedPostgres();
      return false;
    });
    const demo = config.demo ? await startDemo(config, running, log) : null;
    // Behind what was logged until now, which is written at the end of the turn.
    if (config.databaseUrl === null) setImmediate(() => console.log(greeting(config, demo)));
    return running;
  } catch (error) {
    await stop(running);
    throw error;
  }
}

async function listen(config: Config, { pool }: Store, log: Logger): Promise<FastifyInstance> {
  const { baseUrl, trustProxy, maxConnections, host, port } = config;
  const { catalogue, currency, codeLifetimeSeconds, maxInstances } = config;
  const keyRing = new KeyRing(config.secrets ?? trialSecrets(config.dataDir));
  const settings = { catalogue, currency, codeLifetimeSeconds, maxInstances };
  const context: Context = { db: pool, keyRing, baseUrl, ...settings };
  const app = await buildApp({ context, log, trustProxy, maxConnections });
  const describe = (address: string) => `listening at ${address} for ${baseUrl}`;
  await listenAt(app, await addressesOf(host), port, describe).catch(async (cause: NodeJS.ErrnoException) => {
    await app.close();
    const why = cause.code === 'EADDRINUSE' ? 'it is taken: choose another with PORT' : cause.message;
    throw new Error(`can't listen on port ${port} of ${host}: ${why}`, { cause });
  });
  return app;
}

async function stop({ servers, store }: Running): Promise<void> {
  const closed = Promise.all(servers.map((server) => server.close()));
  // Whoever still hasn't sent all of a request by then can't keep the server from ending.
  await Promise.race([closed, setTimeout(DRAIN_MS, undefined, { ref: false })]);
  await store.close();
}

/** Starts the demo application on the next port. That it can't is no reason not to serve. */
async function startDemo(
  config: Config,
  { store, servers }: Running,
  log: Logger,
): Promise<(Demo & { url: string }) | null> {
  const url = `http://127.0.0.1:${config.port + 1}`;
  const redirectUri = `${url}/callback`;
  const demo = await prepareDemo(store.pool, config.dataDir, redirectUri);
  if (demo === null) return null;
  const app = await buildDemo({ ...demo, baseUrl: config.baseUrl, redirectUri });
  try {
    await app.listen({ host: '127.0.0.1', port: config.port + 1 });
  } catch (error) {
    log.warn(`the demo application can't listen on ${url}: ${(error as Error).message}`);
    return null;
  }
  servers.push(app);
  return { ...demo, url };
}

function greeting({ baseUrl, dataDir }: Config, demo: (Demo & { url: string }) | null): string {
  const lines = [`Assent is ready at ${baseUrl} (trial mode, data in ${dataDir})`];
  if (demo !== null) {
    lines.push(
      `  Open              ${demo.url}`,
      `  Login             ${demo.login}`,
      `  Password          ${demo.password}`,
      `  Payment password  ${demo.paymentPassword}`,
    );
  }
  return `\n${lines.join('\n')}\n`;
}
