import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { limitFailures } from '../flows/common/failureLimit.ts';
import { whyUnavailable } from '../flows/common/unavailable.ts';
import { limitAnswerTime, RETRY_AFTER_SECONDS } from '../listener/answerTime.ts';
import { BOUNDS } from '../listener/bounds.ts';
import { ipAddressOf } from '../listener/caller.ts';
import { limitConnections } from '../listener/connectionLimit.ts';
import { sendJson } from '../listener/json.ts';
import { lineOf } from '../listener/logLine.ts';
import { answerClientError } from '../listener/malformedRequests.ts';
import { prepareListener } from '../listener/prepareListener.ts';
import type { Row } from '../operations/snakeCase.ts';
import type { FileOperator } from '../rules/account/operatorsFile.ts';
import { OperatorError, OverloadedError, STATUS_BY_REASON } from '../rules/common/error.ts';
import { rateLimitNetworkOf } from '../rules/common/network.ts';
import { findDoubledName } from '../rules/common/operatorFile.ts';
import { ANSWER_MS, STATEMENT_MS } from '../rules/common/timeouts.ts';
import type { Digest } from '../secrets/digest.ts';
import { FairQueue } from '../secrets/fairQueue.ts';
import { emit, METRIC_EVENTS } from '../signals/events.ts';
import { isDatabaseUnavailable, nameTrouble } from '../store/database/errors.ts';
import { STATEMENT_LIMITED_CONNECTIONS } from '../store/database/query.ts';
import { ENDPOINTS, type Endpoint } from './endpoints.ts';
import { type AdminDependencies, runEndpoint } from './handle.ts';
import { authenticate, type FoundOperator, findOperator, requireOwnName } from './identify.ts';

declare module 'fastify' {
  interface FastifyRequest {
    operator: FileOperator | null;
    /** Why it is refused, for the log. */
    refusal: { readonly rule_id: string; readonly rule?: string } | null;
  }
  interface FastifyContextConfig {
    /** A page of `support/`, which knows its operator by a session. */
    readonly hasSession?: boolean;
  }
}

/** What the pages of `support/` take from the API, so that none can do more. */
export interface AdminApi {
  readonly db: AdminDependencies['db'];
  /** The operator of a token. @throws {OperatorError} also if too many of a network were wrong */
  identify(token: string, request: FastifyRequest, reply: FastifyReply): Promise<FoundOperator>;
  /** Counts an identification that is refused. @throws {OperatorError} this refusal, or that there were too many of a network */
  limited<Found>(identified: Promise<Found>, request: FastifyRequest, reply: FastifyReply): Promise<Found>;
  /** @param tokenHash of a token that was identified: it may have ended since, which `status` says */
  findOperator(tokenHash: Digest): Promise<FoundOperator | null>;
  /** Of an operator without a token. @throws {OperatorError} for a name that could be another's in the trail */
  requireOwnName(name: string): Promise<void>;
  /** Runs an operation like its route. @returns the answer's document @throws {OperatorError}, and what operations throw */
  run(endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply): Promise<Row>;
  /** Counts and logs an error. */
  noteProblem(error: Error, request: FastifyRequest, reply: FastifyReply): Verdict;
}

/** Operations that run at once, of those that read as of the others: a flood leaves users the threads for passwords, and PostgreSQL. */
const MAX_AT_ONCE = 2;
/** To PostgreSQL: one for each operation, and one that finds the operators of others. */
export const ADMIN_POOL_SIZE = 2 * MAX_AT_ONCE + 1;
/** After this time no statement of a list begins, so that the last one ends with the answer. */
const READING_MS = ANSWER_MS - STATEMENT_MS;
/** Requests of one network without the token of an operator. */
const MAX_OPERATOR_FAILURES_PER_MINUTE = 20;

const DOCUMENT = new URL('../../docs/openapi.json', import.meta.url);

/** The operators' API as a Fastify instance, ready to listen. @param addPages adds pages to it */
export function buildAdminApp(
  dependencies: AdminDependencies,
  maxConnections: number,
  log: FastifyBaseLogger,
  addPages?: (app: FastifyInstance, api: AdminApi) => void,
) {
  const app = fastify({
    ...BOUNDS,
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'ref' }),
    bodyLimit: 64 * 1024,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: BOUNDS.http.maxHeaderSize },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      answerProblem(error, request, reply);
      logRequest(request, reply);
    },
  });
  dependencies.db.on('connect', (connection) => STATEMENT_LIMITED_CONNECTIONS.add(connection));
  prepareListener(app, 'http:');
  limitAnswerTime(app);
  limitConnections(app, maxConnections, true);
  app.removeAllContentTypeParsers();
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser<Buffer>(JSON_IN_UTF_8, { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0) return done(null); // generated clients send its type without a body
    if (!isUtf8(body)) return done(new OperatorError('unreadable_request', 'The body is not UTF-8.'));
    const text = body.toString();
    parse(request, text, (error, value) => done(error ?? refuseDoubled(text), value));
  });
  app.decorateRequest('operator', null).decorateRequest('refusal', null);
  const noteFailure = limitFailures(MAX_OPERATOR_FAILURES_PER_MINUTE, 60_000);
  const limited: AdminApi['limited'] = (identified, request, reply) =>
    identified.catch((error: unknown) => {
      if (!(error instanceof OperatorError)) throw error;
      const waitSeconds = noteFailure(rateLimitNetworkOf(ipAddressOf(request)));
      if (waitSeconds === 0) throw error;
      reply.header('retry-after', waitSeconds);
      throw new OperatorError(
        'too_many_failures',
        'Too many requests from this network had no operator’s token.',
      );
    });
  const identify: AdminApi['identify'] = (token, request, reply) =>
    limited(authenticate(token, dependencies), request, reply);
  // By the `Authorization` header alone (RFC 6750 section 2.1).
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.hasSession) return;
    const [, token = ''] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
    request.operator = await identify(token, request, reply);
  });
  app.addHook('onResponse', async (request, reply) => logRequest(request, reply));
  app.setErrorHandler(answerProblem);
  app.setNotFoundHandler(() => {
    throw new OperatorError(
      'no_address',
      `There is no such address: /v1/openapi.json has all, such as /v1/clients.`,
    );
  });
  app.get('/v1/openapi.json', (_request, reply) =>
    sendJson(reply, 200, JSON.parse(readFileSync(DOCUMENT, 'utf8'))),
  );
  const queues = { reading: limitConcurrency(MAX_AT_ONCE), acting: limitConcurrency(MAX_AT_ONCE) };
  const run: AdminApi['run'] = (endpoint, request, reply) => {
    const isRead = endpoint.operation.effect === 'reads';
    const limited = isRead ? queues.reading : queues.acting;
    return limited(request.operator?.name ?? '', async (pause) => {
      const requireTime = async () => {
        const isLate = reply.isLate || (isRead && performance.now() > request.readAt + READING_MS);
        if (isLate || request.socket.destroyed) throw new OverloadedError('no answer in time');
      };
      await requireTime();
      return runEndpoint(endpoint, request, dependencies, isRead ? requireTime : pause);
    });
  };
  for (const path of new Set(ENDPOINTS.map((endpoint) => endpoint.path))) addRoutes(app, path, run);
  addPages?.(app, {
    db: dependencies.db,
    identify,
    limited,
    findOperator: (tokenHash) => findOperator(tokenHash, dependencies),
    requireOwnName: (name) => requireOwnName(name, dependencies),
    run,
    noteProblem,
  });
  return app;
}

const JSON_IN_UTF_8 = /^application\/json *(; *charset="?utf-?8"? *)?$/i;

/** Of two passwords the last would be set. @param text valid JSON */
function refuseDoubled(text: string): OperatorError | null {
  const isDoubled = findDoubledName(text) !== undefined;
  return isDoubled ? new OperatorError('unreadable_request', 'The body has a field twice.') : null;
}

/** Runs at most so many works at once, and one of each operator. A work gets a function to await where others may have their turns. */
function limitConcurrency(most: number) {
  const waiting = new FairQueue<{ operator: string; start: (end: () => void) => void }>(Infinity);
  const busy = new Set<string>();
  const startNext = () => {
    const turn = busy.size < most ? waiting.shift(busy) : undefined;
    if (turn === undefined) return;
    const { operator, start } = turn.task;
    const since = performance.now();
    busy.add(operator);
    start(() => {
      busy.delete(operator);
      turn.end(performance.now() - since);
      startNext();
    });
  };
  const begin = (operator: string) =>
    new Promise<() => void>((start) => {
      waiting.push(operator, { operator, start });
      startNext();
    });
  return async <Result>(operator: string, work: (pause: () => Promise<void>) => Promise<Result>) => {
    let end = await begin(operator);
    const pause = async () => {
      end();
      end = await begin(operator);
    };
    return work(pause).finally(() => end());
  };
}

/** The routes of one path; its other methods get 405. */
function addRoutes(app: FastifyInstance, path: string, run: AdminApi['run']): void {
  const url = path.replaceAll(/\{(\w+)\}/g, ':$1');
  const endpoints = ENDPOINTS.filter((endpoint) => endpoint.path === path);
  for (const endpoint of endpoints) {
    app.route({
      method: endpoint.method,
      url,
      handler: async (request, reply) =>
        sendJson(reply, endpoint.isMade ? 201 : 200, await run(endpoint, request, reply)),
    });
  }
  const allowed: readonly string[] = endpoints.map(({ method }) => method);
  const refuse = async (_request: FastifyRequest, reply: FastifyReply) => {
    reply.header('allow', allowed.join(', '));
    throw new OperatorError('wrong_method', `Method not allowed: use ${allowed.join(' or ')}.`);
  };
  const method = app.supportedMethods.filter((one) => !allowed.includes(one));
  app.route({ method, url, onRequest: refuse, handler: refuse });
}

/** One line for each answered request, without names in its path, query and body. */
function logRequest(request: FastifyRequest, reply: FastifyReply): void {
  const { operator, refusal } = request;
  const line = { operator: operator?.name ?? null, ...lineOf(request, reply), ...refusal };
  request.log.info(line, 'operator request');
}

/** Answers an error by RFC 9457. */
function answerProblem(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  const { status, rule, ...said } = noteProblem(error, request, reply);
  const why = rule === 'invalid_token' ? `, error="${rule}", error_description="${said.detail}"` : '';
  if (status === 401) reply.header('www-authenticate', `Bearer realm="operators"${why}`);
  const problem = { title: STATUS_CODES[status], status, ...said, rule, reference: request.id };
  return sendJson(reply, status, problem, 'application/problem+json');
}

/** An error that is neither a refusal nor a 503 is internal, logged with its cause. */
function noteProblem(error: Error, request: FastifyRequest, reply: FastifyReply): Verdict {
  const verdict = verdictOn(error);
  const { status, rule } = verdict;
  if (status === 500) request.log.error({ err: error }, 'the operation failed');
  if (status === 503) reply.header('retry-after', RETRY_AFTER_SECONDS);
  const failure = METRIC_EVENTS.operatorFailure.find((one) => one === `${status}`);
  if (failure !== undefined) emit('operatorFailure', failure);
  request.refusal = { rule_id: rule, ...(status === 503 && { rule: causeOf(error) }) };
  return verdict;
}

const causeOf = (error: Error) => (isDatabaseUnavailable(error) ? nameTrouble(error) : error.message);

const { STATUS_CODES } = process.getBuiltinModule('node:http'); // an import loads undici, on Node 26
const LATER = 'Try again in a moment. The operation may still complete: check before you repeat it.';
const PROVIDER_AWAY = 'The other sign-in does not respond. Use a token, or try again in a moment.';
const OURS = 'Internal error: the log has the cause under the reference.';

type Verdict = Readonly<{ status: number; detail: string; rule: string; field?: string | undefined }>;

function verdictOn(error: Error & { readonly statusCode?: number }): Verdict {
  const { message: detail, statusCode = 500 } = error;
  if (error instanceof OperatorError)
    return { status: STATUS_BY_REASON[error.reason], detail, rule: error.reason, field: error.field };
  const unavailable = whyUnavailable(error);
  if (unavailable !== null) {
    return { status: 503, detail: unavailable === 'provider' ? PROVIDER_AWAY : LATER, rule: unavailable };
  }
  const said = statusCode === 415 ? 'Send JSON, with Content-Type: application/json.' : detail;
  if (statusCode < 500) return { status: statusCode, detail: said, rule: 'unreadable_request' };
  return { status: 500, detail: OURS, rule: 'server_error' };
}
