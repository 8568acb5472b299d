import cookie from '@fastify/cookie';
import fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import type { Context } from '../flows/common/context.ts';
import { limitAnswerTime } from '../listener/answerTime.ts';
import { BOUNDS } from '../listener/bounds.ts';
import { limitConnections } from '../listener/connectionLimit.ts';
import { answerClientError } from '../listener/malformedRequests.ts';
import { prepareListener } from '../listener/prepareListener.ts';
import { DatabaseWatch } from '../watch/databaseWatch.ts';
import { prepareHousekeeping } from '../watch/housekeeping.ts';
import { RefusalLog } from '../watch/refusals.ts';
import { cookieOptions } from './browser/cookies.ts';
import { registerMetrics } from './metrics/registry.ts';
import { metricsRoutes } from './metrics/server.ts';
import type { TokenEnds } from './metrics/state.ts';
import { type Branding, brandingOf } from './pages/look.ts';
import { refuseEmbedding } from './pages/noticePage.ts';
import { addViews } from './pages/views.ts';
import { CONTRACT_BODY_LIMIT_BYTES, MAX_LIMIT_FIELDS, parseForms } from './request/parameters.ts';
import { RequestLogger } from './request/requestLog.ts';
import { accountRoutes } from './routes/account/account.ts';
import { securityRoutes } from './routes/account/security.ts';
import { assetRoutes } from './routes/assets.ts';
import { authorizeRoutes } from './routes/authorize/authorize.ts';
import { decisionRoutes } from './routes/authorize/decision.ts';
import { providerSignInRoutes } from './routes/authorize/provider.ts';
import { signInRoutes } from './routes/authorize/signIn.ts';
import { healthRoutes } from './routes/health.ts';
import { tokenRoutes } from './routes/token.ts';
import {
  answerBadPath,
  answerErrors,
  answerUnknownRoutes,
  type RouteTable,
  setErrorFormat,
} from './server/errors.ts';

export interface Dependencies {
  readonly context: Context;
  readonly log: FastifyBaseLogger;
  /** Hops or networks with trusted `X-Forwarded-*` headers. */
  readonly trustProxy: false | number | string[];
  readonly maxConnections: number;
  /** `/metrics`: whether it is among these routes, and its bearer token; null for none. */
  readonly metrics: {
    readonly onThisPort: boolean;
    readonly token: string | null;
    readonly tokenEnds?: TokenEnds;
  };
}

/** The whole HTTP surface as one Fastify instance, ready to listen. */
export async function buildApp(dependencies: Dependencies): Promise<FastifyInstance> {
  const { context, log, trustProxy, maxConnections, metrics } = dependencies;
  const app = fastify({
    loggerInstance: log,
    logController: new RequestLogger(trustProxy !== false),
    // Fastify treats a bare number as no trust: it can't know, as the operator does, that only so many proxies reach us.
    trustProxy: typeof trustProxy === 'number' ? (_address, hop) => hop < trustProxy : trustProxy,
    ...BOUNDS,
    bodyLimit: CONTRACT_BODY_LIMIT_BYTES,
    clientErrorHandler: answerClientError,
    frameworkErrors: answerBadPath,
  });
  app.decorate('context', context).decorate('branding', brandingOf(context));
  await addViews(app);
  // Hooks of one phase run in the order of these lines; `onRoute` hooks precede the routes.
  prepareListener(app, context.baseUrl);
  const watch = runInBackground(app);
  answerErrors(app, watch);
  answerUnknownRoutes(app);
  limitAnswerTime(app);
  registerMetrics(app, watch, metrics.tokenEnds);
  limitConnections(app, maxConnections, trustProxy === false);
  await parseForms(app);
  await app.register(async (pages) => {
    setErrorFormat(pages, 'page');
    refuseEmbedding(pages);
    pages.decorateRequest('wayBack');
    await pages.register(cookie, { parseOptions: cookieOptions(context.baseUrl) });
    authorizeRoutes(pages, context);
    signInRoutes(pages, context);
    providerSignInRoutes(pages, context);
    accountRoutes(pages, context);
    securityRoutes(pages, context);
    await pages.register(async (decisions) => {
      await parseForms(decisions, MAX_LIMIT_FIELDS);
      decisionRoutes(decisions);
    });
  });
  await app.register(async (parts) => {
    setErrorFormat(parts, 'page');
    assetRoutes(parts, context);
  });
  await app.register(async (documents) => {
    setErrorFormat(documents, 'json');
    tokenRoutes(documents, context);
    if (context.countsPayments) (await import('./routes/spend.ts')).spendRoutes(documents, context);
    healthRoutes(documents, watch);
    if (metrics.onThisPort) metricsRoutes(documents, app.metrics, metrics.token);
  });
  return app;
}

/** Runs while the server is open: the database watch, the writing of refusals, and housekeeping. */
function runInBackground(app: FastifyInstance): DatabaseWatch {
  const { context, log } = app;
  const watch = new DatabaseWatch(context, log);
  const refusals = new RefusalLog(context);
  const housekeeping = prepareHousekeeping(context, log);
  app.decorate('refusals', refusals);
  app.addHook('onListen', async () => {
    void watch.check();
    housekeeping.start();
  });
  app.addHook('preClose', async () => {
    watch.stop();
    await refusals.write();
    housekeeping.stop();
  });
  return watch;
}

/** What the modules of `http/` add to Fastify's objects, each by a `decorate` of the same name. */
declare module 'fastify' {
  interface FastifyInstance {
    readonly context: Context;
    readonly branding: Branding;
    readonly metrics: Registry;
    readonly refusals: RefusalLog;
    readonly routeTable: RouteTable;
  }
  interface FastifyRequest {
    /** The address to go on at, for a page whose own can't be asked for again. */
    wayBack?: string;
  }
  interface FastifyContextConfig {
    /** True if attackers could guess secrets here: failures are limited. */
    readonly limitsFailures?: boolean;
  }
}
