import cookie from '@fastify/cookie';
import fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import type { Context } from '../flows/context.ts';
import { refuseEmbedding } from './browser/fetchMetadata.ts';
import { lookOf } from './browser/look.ts';
import { collectMetrics } from './metrics/registry.ts';
import { type MetricsSource, metricsRoutes } from './metrics/route.ts';
import { CONTRACT_BODY_LIMIT_BYTES, MAX_LIMIT_FIELDS, parseForms } from './parameters.ts';
import { accountRoutes } from './routes/account.ts';
import { authorizeRoutes } from './routes/authorize.ts';
import { decisionRoutes } from './routes/decision.ts';
import { healthRoutes, watchDatabase } from './routes/health.ts';
import { historyRoutes } from './routes/history.ts';
import { imageRoutes } from './routes/images.ts';
import { introspectRoutes } from './routes/introspect.ts';
import { languageRoutes } from './routes/language.ts';
import { metadataRoutes } from './routes/metadata.ts';
import { passwordRoutes } from './routes/password.ts';
import { revokeRoutes } from './routes/revoke.ts';
import { scriptRoutes } from './routes/script.ts';
import { securityRoutes } from './routes/security.ts';
import { signInRoutes } from './routes/signIn.ts';
import { stopRoutes } from './routes/stop.ts';
import { tokenRoutes } from './routes/token.ts';
import { warningRoutes } from './routes/warnings.ts';
import { limitAnswerTime } from './server/answerTime.ts';
import { limitConnections } from './server/connectionLimit.ts';
import { prepareDraining } from './server/draining.ts';
import { answerErrors, answerUnknownRoutes } from './server/errors.ts';
import { keepHouse } from './server/housekeeping.ts';
import { answerBadPath, answerClientError, answerConnect, newReference } from './server/malformedRequests.ts';
import { keepRefusals, RequestLog } from './server/requestLog.ts';
import { preventSmuggling } from './server/requestSmuggling.ts';
import { addResponseHeaders } from './server/responseHeaders.ts';
import { answerWith } from './server/routeTable.ts';
import { endSlowReaders } from './server/slowReaders.ts';

/** What the HTTP surface is built from. */
export interface Dependencies {
  readonly context: Context;
  readonly log: FastifyBaseLogger;
  /** Hop count or networks whose `X-Forwarded-*` headers are believed; false for none. */
  readonly trustProxy: false | number | string[];
  /** Open connections at once. */
  readonly maxConnections: number;
  /** Whether `/metrics` is here, the token that it asks for (null for none), and how several processes tell of all. */
  readonly metrics: {
    readonly areHere: boolean;
    readonly token: string | null;
    readonly ofAll?: ((own: Registry) => MetricsSource) | undefined;
  };
}

/** Above the longest request that is accepted, so that one a little too long still gets the contract's error page. */
const HEADER_LIMIT_BYTES = 32 * 1024;
/** How long headers, and headers and body together, may take to arrive (Slowloris). */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 20_000;
/** How often Node looks for requests that took too long. */
const TIMEOUT_CHECK_MS = 5_000;

/** The whole HTTP surface as one Fastify instance, ready to listen. */
export async function buildApp(dependencies: Dependencies): Promise<FastifyInstance> {
  const { context, log, trustProxy, maxConnections, metrics } = dependencies;
  const app = fastify({
    loggerInstance: log,
    logController: new RequestLog(),
    // A bare number means "trust nobody" to Fastify, which can't know the sender. Here the operator promises that only
    // proxies can reach us, and says how many.
    trustProxy: typeof trustProxy === 'number' ? (_address, hop) => hop < trustProxy : trustProxy,
    genReqId: newReference,
    requestTimeout: REQUEST_TIMEOUT_MS,
    bodyLimit: CONTRACT_BODY_LIMIT_BYTES,
    return503OnClosing: false, // requests that arrive are answered; their connections close with the response
    http: {
      maxHeaderSize: HEADER_LIMIT_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    },
    clientErrorHandler: answerClientError,
    frameworkErrors: answerBadPath,
  });
  // Hooks of one phase run in the order of these lines, each phase by itself; the two that look at routes come before them.
  prepareDraining(app);
  app.decorateRequest('chosenLanguage', null).decorateRequest('limitFields');
  endSlowReaders(app);
  addResponseHeaders(app, context.baseUrl);
  preventSmuggling(app);
  answerConnect(app);
  const watch = watchDatabase(app, context);
  keepRefusals(app, context);
  keepHouse(app, context);
  answerErrors(app, context, watch);
  answerUnknownRoutes(app);
  limitAnswerTime(app);
  collectMetrics(app, context, watch, metrics.ofAll);
  limitConnections(app, maxConnections, trustProxy === false);
  await parseForms(app);
  app.decorate('look', lookOf(context));
  await app.register(async (pages) => {
    answerWith(pages, 'page');
    refuseEmbedding(pages);
    await pages.register(cookie);
    for (const addRoutes of FOR_PEOPLE) addRoutes(pages, context);
    await pages.register(async (decisions) => {
      await parseForms(decisions, MAX_LIMIT_FIELDS);
      decisionRoutes(decisions, context);
    });
  });
  await app.register(async (parts) => {
    answerWith(parts, 'page');
    imageRoutes(parts, context);
    scriptRoutes(parts);
  });
  await app.register(async (documents) => {
    answerWith(documents, 'json');
    for (const addRoutes of FOR_PROGRAMS) addRoutes(documents, context);
    healthRoutes(documents, watch);
    if (metrics.areHere) metricsRoutes(documents, app.metricsSource, metrics.token);
  });
  return app;
}

const FOR_PEOPLE = [
  authorizeRoutes,
  signInRoutes,
  accountRoutes,
  historyRoutes,
  securityRoutes,
  passwordRoutes,
  warningRoutes,
  stopRoutes,
  languageRoutes,
];
const FOR_PROGRAMS = [tokenRoutes, introspectRoutes, revokeRoutes, metadataRoutes];
