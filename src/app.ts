import fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import { accountRoutes } from './http/account.ts';
import { authorizeRoutes } from './http/authorize.ts';
import { cookies, type Site } from './http/browserSession.ts';
import { answerBadPath, answerClientError, newReference } from './http/clientError.ts';
import { decisionRoutes } from './http/decide.ts';
import { closeConnectionsWhenClosing } from './http/drain.ts';
import { healthRoutes } from './http/health.ts';
import { introspectRoutes } from './http/introspect.ts';
import { answerFaultsWithJson } from './http/json.ts';
import { countRequests } from './http/metrics.ts';
import { answerFaultsWithPages } from './http/pageFaults.ts';
import { RequestLog } from './http/requestLog.ts';
import { requestParameters } from './http/requestParameters.ts';
import { signInRoutes } from './http/signIn.ts';
import { tokenRoutes } from './http/token.ts';
import { answerUnknownRoutes } from './http/unknownRoutes.ts';
import { views } from './http/views.ts';

/** What the HTTP surface is built from. */
export interface Dependencies extends Site {
  readonly log: FastifyBaseLogger;
  /** Hop count or networks whose `X-Forwarded-*` headers are believed; false for none. */
  readonly trustProxy: false | number | string[];
}

/** Above the longest request we take, so that one a little too long still gets the contract's error page. */
const HEADER_LIMIT_BYTES = 32 * 1024;
/** For headers and body together; without it a request half sent would stay open for ever. */
const REQUEST_TIMEOUT_MS = 30_000;

/** The whole HTTP surface as one Fastify instance, ready to listen. */
export async function buildApp({ log, trustProxy, ...site }: Dependencies): Promise<FastifyInstance> {
  const app = fastify({
    loggerInstance: log,
    logController: new RequestLog(),
    trustProxy: typeof trustProxy === 'number' ? (_address, hop) => hop < trustProxy : trustProxy,
    genReqId: newReference,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { maxHeaderSize: HEADER_LIMIT_BYTES },
    clientErrorHandler: answerClientError,
    frameworkErrors: answerBadPath,
  });
  countRequests(app);
  closeConnectionsWhenClosing(app);
  await app.register(cookies);
  await app.register(requestParameters);
  await app.register(views);
  answerUnknownRoutes(app);
  await app.register(async (pages) => {
    answerFaultsWithPages(pages);
    await authorizeRoutes(pages, site);
    await signInRoutes(pages, site);
    await decisionRoutes(pages, site);
    await accountRoutes(pages, site);
  });
  await app.register(async (documents) => {
    answerFaultsWithJson(documents);
    await tokenRoutes(documents, site);
    await introspectRoutes(documents, site);
    await healthRoutes(documents, site);
  });
  return app;
}
