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
import { BOUNDS } from '../http/connections/bounds.ts';
import { limitConnections } from '../http/connections/connectionLimit.ts';
import { prepareDraining } from '../http/connections/draining.ts';
import { preventSmuggling } from '../http/connections/requestSmuggling.ts';
import { endSlowReaders } from '../http/connections/slowReaders.ts';
import { addressOf } from '../http/request/caller.ts';
import { sendJson } from '../http/request/json.ts';
import { lineOf } from '../http/request/requestLog.ts';
import { limitAnswerTime } from '../http/server/answerTime.ts';
import { RETRY_AFTER_SECONDS } from '../http/server/errors.ts';
import { addResponseHeaders } from '../http/server/responseHeaders.ts';
import { OAuthError, OverloadedError, REFUSALS, Refusal } from '../rules/common/error.ts';
import { networkOf } from '../rules/common/network.ts';
import { sha256 } from '../secrets/digest.ts';
import { isOperatorToken } from '../secrets/tokens.ts';
import { findOperator, type Operator } from '../store/operate/operators.ts';
import { carryOut, type Surroundings } from './carryOut.ts';
import { PLACES } from './places.ts';

declare module 'fastify' {
  interface FastifyRequest {
    operator: Operator | null;
    /** The rule of a refusal, for the log. */
    brokenRule: string | null;
  }
}

/** Operations that run at once: a flood of them leaves users the threads for passwords, and PostgreSQL. */
const MAX_REQUESTS_AT_ONCE = 2;
/** To PostgreSQL: one for each operation, and one that finds the operators of others. */
export const CONNECTIONS = MAX_REQUESTS_AT_ONCE + 1;
/** Requests of one network without the token of an operator. */
const MAX_OPERATOR_FAILURES_PER_MINUTE = 20;

/** The operators' API as a Fastify instance, ready to listen. */
export function buildAdminApp(surroundings: Surroundings, maxConnections: number, log: FastifyBaseLogger) {
  const app = fastify({
    ...BOUNDS,
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'ref' }),
    bodyLimit: 64 * 1024,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: BOUNDS.http.maxHeaderSize },
    frameworkErrors: (error, request, reply) => {
      answerProblem(error, request, reply);
      logRequest(request, reply);
    },
  });
  prepareDraining(app);
  endSlowReaders(app);
  addResponseHeaders(app, 'http:');
  preventSmuggling(app);
  limitAnswerTime(app);
  limitConnections(app, maxConnections, true);
  app.removeAllContentTypeParsers();
  const parse = app.getDefaultJsonParser('error', 'error');
  // Generated clients send its type without a body.
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null);
    else parse(request, body, done);
  });
  app.decorateRequest('operator', null).decorateRequest('brokenRule', null);
  const noteFailure = limitFailures(MAX_OPERATOR_FAILURES_PER_MINUTE, 60_000);
  app.addHook('onRequest', async (request, reply) => {
    request.operator = await authenticate(request, surroundings);
    if (request.operator !== null) return;
    const waitSeconds = noteFailure(networkOf(addressOf(request)));
    if (waitSeconds === 0)
      throw new Refusal('no_operator', 'Send an operator’s token as Authorization: Bearer.');
    reply.header('retry-after', waitSeconds);
    throw new Refusal('too_many_failures', 'Too many requests from this network had no operator’s token.');
  });
  app.addHook('onResponse', async (request, reply) => logRequest(request, reply));
  app.setErrorHandler(answerProblem);
  app.setNotFoundHandler(() => {
    throw new Refusal('no_address', 'Not found.');
  });
  const inTurn = takingTurns(MAX_REQUESTS_AT_ONCE);
  for (const path of new Set(PLACES.map((place) => place.path))) addRoutes(app, path, surroundings, inTurn);
  return app;
}

/** By the `Authorization` header alone (RFC 6750 section 2.1). @returns null for a stranger */
async function authenticate({ headers }: FastifyRequest, { db }: Surroundings): Promise<Operator | null> {
  const [, token = ''] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  return isOperatorToken(token) ? findOperator(db, { tokenHash: sha256(token) }) : null;
}

type Turns = ReturnType<typeof takingTurns>;

/** Runs at most so many works at once, the others after them in the order of their calls. */
function takingTurns(most: number) {
  let free = most;
  const waiting: (() => void)[] = [];
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

/** The routes of one path; its other methods get 405. */
function addRoutes(app: FastifyInstance, path: string, surroundings: Surroundings, inTurn: Turns): void {
  const url = path.replaceAll(/\{(\w+)\}/g, ':$1');
  const places = PLACES.filter((place) => place.path === path);
  for (const place of places) {
    app.route({
      method: place.method,
      url,
      handler: (request, reply) =>
        inTurn(async () => {
          if (reply.isLate) throw new OverloadedError('refused while waiting: no answer in time');
          return sendJson(reply, place.isMade ? 201 : 200, await carryOut(place, request, surroundings));
        }),
    });
  }
  const allowed: readonly string[] = places.map(({ method }) => method);
  const refuse = async (_request: FastifyRequest, reply: FastifyReply) => {
    reply.header('allow', allowed.join(', '));
    throw new Refusal('wrong_method', `Method not allowed: use ${allowed.join(' or ')}.`);
  };
  const method = app.supportedMethods.filter((one) => !allowed.includes(one));
  app.route({ method, url, onRequest: refuse, handler: refuse });
}

/** One line for each answered request, without names in its path, query and body. */
function logRequest(request: FastifyRequest, reply: FastifyReply): void {
  const { operator, brokenRule } = request;
  const rule = brokenRule !== null && { rule_id: brokenRule };
  const line = { operator: operator?.name ?? null, ...lineOf(request, reply), ...rule };
  request.log.info(line, 'operator request');
}

/** Answers an error by RFC 9457. One that is neither a refusal nor a 503 is internal, logged with its cause. */
function answerProblem(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  const { status, rule, ...said } = verdictOn(error);
  if (status === 500) request.log.error({ err: error }, 'the operation failed');
  if (status === 503) reply.header('retry-after', RETRY_AFTER_SECONDS);
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="operators"');
  request.brokenRule = rule;
  const problem = { title: STATUS_CODES[status], status, ...said, rule, reference: request.id };
  return sendJson(reply, status, problem, 'application/problem+json');
}

const { STATUS_CODES } = process.getBuiltinModule('node:http'); // an import loads undici, on Node 26
const LATER = 'Try again in a moment. The operation may still complete: check before you repeat it.';
const OURS = 'Internal error: the log has the cause under the reference.';

function verdictOn(error: FastifyError) {
  const { message: detail, statusCode = error instanceof OAuthError ? 400 : 500 } = error;
  if (error instanceof Refusal)
    return { status: REFUSALS[error.reason], detail, rule: error.reason, field: error.field };
  const unavailable = whyUnavailable(error);
  if (unavailable !== null) return { status: 503, detail: LATER, rule: unavailable };
  if (statusCode < 500) return { status: statusCode, detail, rule: 'unreadable_request' };
  return { status: 500, detail: OURS, rule: 'server_error' };
}
