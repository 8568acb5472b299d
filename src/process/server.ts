import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { type Config, readOperatorName, readReservedNames } from '../config/config.ts';
import type { Context } from '../flows/common/context.ts';
import { openProvider } from '../flows/common/provider.ts';
import { buildApp } from '../http/app.ts';
import { buildMetricsApp } from '../http/metrics/server.ts';
import { drain } from '../listener/draining.ts';
import { listenAt, resolveHost, tryPort } from '../listener/listen.ts';
import { IN_FLIGHT_GRACE_MS } from '../rules/common/timeouts.ts';
import { KeyRing } from '../secrets/keyRing.ts';
import { closeAll, endInOrder, onEnd } from './ending.ts';
import { openServerStore, queueUntilMigrated, type Store, saveServerSettings } from './openStore.ts';
import { watchOperators } from './watchOperators.ts';

/** Serves in this process until a signal. @throws errors that waiting doesn't solve, after closing everything */
export async function runServer(config: Config, log: Logger): Promise<void> {
  await start(config, log).catch(async (error) => {
    await closeAll({ signal: null, inOrder: true });
    throw error;
  });
  endInOrder(config.drainMs, () => log.info('stopped'));
}

/** Listens before the database is reachable, so that health checks get answers from then on. */
async function start(config: Config, log: Logger): Promise<void> {
  const { adminPort, metricsPort, metricsToken, drainMs } = config;
  if (config.databaseUrl === null) await listen(null, config, config.port); // before PostgreSQL starts
  const store = await openServerStore(config, log);
  // The operators' API has connections of its own: a long list delays no exchange.
  const adminStore = adminPort === null ? store : await openServerStore(config, log);
  // On an abrupt end PostgreSQL rolls back open work when the connections close.
  for (const { close } of new Set([store, adminStore]))
    onEnd(({ inOrder }) => (inOrder ? close() : undefined));
  if (config.databaseUrl === null) await saveServerSettings(store.pool, config, log);
  const migrate = queueUntilMigrated([store.pool, adminStore.pool], config);
  const operators = watchOperators(config, log);
  const app = await openHttp(config, store, log, operators);
  if (metricsPort !== null) {
    const metrics = buildMetricsApp(app.metrics, metricsToken, log);
    closeOnEnd(metrics); // served until the end
    await listen(metrics, config, metricsPort, 'Prometheus');
  }
  if (adminPort !== null) await openAdmin(config, adminPort, adminStore, app.context, log, operators);
  closeOnEnd(app);
  onEnd(async ({ signal, inOrder }) => {
    if (!inOrder || signal === null) return;
    log.info({ signal, drain_seconds: drainMs / 1000 }, 'stopping after the requests in progress');
    await drain(app, drainMs);
  });
  await listen(app, config, config.port, config.baseUrl);
  await migrate(log);
  if (config.databaseUrl !== null) return;
  const { startTrial } = await import('../trial/startTrial.ts');
  const demo = await startTrial(config, store.pool, log);
  if (demo !== null) closeOnEnd(demo);
}

/** A client that sends its request slowly can't keep the server from ending. */
function closeOnEnd(app: FastifyInstance): void {
  onEnd(({ inOrder }) => {
    const closed = app.close();
    return inOrder
      ? Promise.race([closed, setTimeout(IN_FLIGHT_GRACE_MS, undefined, { ref: false })])
      : undefined;
  });
}

type Operators = ReturnType<typeof watchOperators>;

async function openHttp(config: Config, { pool: db }: Store, log: Logger, operators: Operators) {
  // Production loads nothing of trial mode.
  const secrets = config.secrets ?? (await import('../trial/startTrial.ts')).trialSecrets(config.dataDir);
  const keyRing = new KeyRing(secrets);
  const { baseUrl, brand, catalogue, directory, languages, timeZone } = config;
  const { codeLifetimeSeconds, maxInstances, countsPayments, trustProxy, maxConnections } = config;
  const { currency, defaultLimit, furtherLimits } = config;
  const offer = { catalogue, currency, defaultLimit, furtherLimits };
  const settings = {
    ...offer,
    brand,
    directory,
    languages,
    timeZone,
    codeLifetimeSeconds,
    maxInstances,
    countsPayments,
  };
  const showsRules = config.databaseUrl === null;
  const provider = config.provider && openProvider(config.provider, log);
  provider?.client().catch((error: Error) => log.warn(`${error.message}; users can't sign in until it does`));
  const confirmsPayments = config.requiresPaymentPassword || provider?.paymentAcr != null;
  const context: Context = { db, keyRing, baseUrl, ...settings, provider, confirmsPayments, showsRules };
  const metrics = {
    onThisPort: config.metricsPort === null,
    token: config.metricsToken,
    tokenEnds: () => [...operators().values()].map(({ expiresAt }) => expiresAt),
  };
  return buildApp({ context, log, trustProxy, maxConnections, metrics });
}

/** Loaded only where it is wanted. */
async function openAdmin(
  config: Config,
  port: number,
  { pool }: Store,
  context: Context,
  log: Logger,
  fileOperators: Operators,
): Promise<void> {
  const { buildAdminApp, ADMIN_POOL_SIZE: CONNECTIONS } = await import('../admin/server.ts');
  const { addSupportPages } = await import('../admin/support/pages.ts');
  pool.options.max = CONNECTIONS;
  const names = { serviceNames: () => readReservedNames(), commandNames: [readOperatorName()] };
  const surroundings = { db: pool, ...names, offer: async () => config, fileOperators };
  const { provider = null, roles } = config.operatorSignIn ?? {};
  const own = provider ? openProvider(provider, log) : context.provider;
  const operatorSignIn = own && roles ? { provider: own, roles } : null;
  const app = buildAdminApp(surroundings, config.maxConnections, log, (to, api) =>
    addSupportPages(to, api, { ...context, operatorSignIn }),
  );
  closeOnEnd(app);
  await listen(app, { ...config, host: config.adminHost }, port, 'operators');
}

const VARIABLE_OF: Readonly<Record<string, string>> = { Prometheus: 'METRICS_PORT', operators: 'ADMIN_PORT' };

/** @param app null only tries the port */
async function listen(app: FastifyInstance | null, { host }: Config, port: number, whom = '') {
  const describe = (address: string) => `listening at ${address} for ${whom}`;
  try {
    const addresses = await resolveHost(host);
    await (app ? listenAt(app, addresses, port, describe) : tryPort(addresses, port));
  } catch (error) {
    const cause = error as NodeJS.ErrnoException;
    const taken = `it is in use: choose another with ${VARIABLE_OF[whom] ?? 'PORT'}`;
    const why = cause.code === 'EADDRINUSE' ? taken : cause.message;
    throw new Error(`can't listen on port ${port} of ${host}: ${why}`, { cause });
  }
}
