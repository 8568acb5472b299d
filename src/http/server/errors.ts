import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { limitFailures } from '../../flows/common/failureLimit.ts';
import { whyUnavailable } from '../../flows/common/unavailable.ts';
import { RETRY_AFTER_SECONDS } from '../../listener/answerTime.ts';
import { ipAddressOf } from '../../listener/caller.ts';
import { sendJson } from '../../listener/json.ts';
import { loggedPathOf } from '../../listener/logLine.ts';
import { limitPipelining } from '../../listener/slowReaders.ts';
import { OAuthError } from '../../rules/common/error.ts';
import { MAX_FAILED_API_REQUESTS_PER_MINUTE } from '../../rules/common/limits.ts';
import { rateLimitNetworkOf } from '../../rules/common/network.ts';
import type { RuleId } from '../../rules/common/refusals.ts';
import { emit } from '../../signals/events.ts';
import type { DatabaseWatch } from '../../watch/databaseWatch.ts';
import {
  type Cause,
  causeOfRule,
  describeError,
  ERROR_PAGE,
  type ErrorPageInput,
} from '../pages/errorPage.ts';
import { showPage } from '../pages/views.ts';
import { NOT_A_FORM, pathOf, targetOf } from '../request/parameters.ts';
import { noteRefusal } from '../request/requestLog.ts';

/** An error before its format: JSON for programs, a page for users. */
interface ErrorResponse extends ErrorPageInput {
  readonly status: number;
  /** The contract's code, or our own. */
  readonly error: string;
  /** For readers of the JSON. */
  readonly description: string;
  /** Where no page is asked for, whatever the address. */
  readonly inJson?: true;
}

/** Answers every error of every route. One that is neither a refusal nor a 503 is internal, logged with its cause. */
export function answerErrors(app: FastifyInstance, watch: DatabaseWatch): void {
  app.decorateRequest('logFields', null);
  app.decorateRequest('logOutcome', null);
  const noteFailure = limitFailures(MAX_FAILED_API_REQUESTS_PER_MINUTE, 60_000);
  app.setErrorHandler(async (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const refused = asOAuthError(error);
    if (refused !== null) return answerRefused(reply, refused, noteFailure);
    const unavailable = whyUnavailable(error);
    if (unavailable === null) {
      request.log.error({ err: error }, 'the request failed');
      return answerError(reply, OUR_FAULT);
    }
    const rule = unavailable === 'database' ? watch.noteError(error) : error.message;
    request.logFields = { error: UNAVAILABLE.error, rule, rule_id: unavailable };
    if (unavailable !== 'provider') watch.countRefused();
    const answer = unavailable === 'provider' ? PROVIDER_AWAY : UNAVAILABLE;
    return answerError(reply.header('retry-after', RETRY_AFTER_SECONDS), answer);
  });
}

function answerRefused(reply: FastifyReply, refused: OAuthError, noteFailure: (network: string) => number) {
  const { code, rule, ruleId, message, parameter, clientId, clientName, clientSite } = refused;
  const { request } = reply;
  request.logFields = { error: code, rule, rule_id: ruleId, ...(clientId && { client_id: clientId }) };
  const wait = request.routeOptions.config.limitsFailures
    ? noteFailure(rateLimitNetworkOf(ipAddressOf(request)))
    : 0;
  if (wait > 0) {
    emit('throttle', 'failures');
    return answerError(reply.header('retry-after', wait), TOO_MANY_FAILURES);
  }
  const status = ruleId === 'too_many_tries' ? 429 : refused.statusCode; // of a sign-in
  if (status === 429) reply.header('retry-after', 60);
  const { method, routeOptions } = request;
  const cause = causeOfRule(ruleId, { method, path: `${routeOptions.url}`, clientName });
  const answer = response(status, code, message, cause);
  return answerError(reply, { ...answer, parameter, clientName, clientSite });
}

/** Addresses of pages and files before they moved below `/oauth/`, which open pages and bookmarks still have. */
const PAGES_BEFORE =
  /^\/(account|sign-(in|out)|consent|confirm|receipt|return|language|brand|logo|style|form)\b/;

/**
 * 405 with `Allow` or 404 for requests without a route, before reading the body; for an earlier address the present one. Routes
 * answer the same 404 by `callNotFound`. Call it before adding them.
 */
export function answerUnknownRoutes(app: FastifyInstance): void {
  const routeTable: RouteTable = [];
  app.decorate('routeTable', routeTable);
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    const path = pathOf(request);
    if (PAGES_BEFORE.test(path)) {
      // With method and form. Never kept: another site may take the address over.
      reply.header('cache-control', 'no-store');
      return reply.redirect(`${app.context.baseUrl}/oauth${targetOf(request)}`, 307);
    }
    const methods = routeTable.flatMap((route) => (route.path === path ? [route.method] : []));
    const allowed = methods.toSorted().join(', ');
    if (allowed === '' && /\/(openid-configuration|userinfo)$/.test(path))
      refuse(reply, NO_OPENID, 'openid_address');
    else if (allowed === '') refuse(reply, NOT_FOUND, 'not_found');
    else {
      reply.header('allow', allowed);
      const description = `Method ${request.method} is not allowed here: use ${allowed}.`;
      refuse(reply, response(405, 'invalid_request', description, 'notAllowed'), 'wrong_method', { path });
    }
  });
  app.setNotFoundHandler((_request, reply) => refuse(reply, NOT_FOUND, 'not_found'));
}

function refuse(reply: FastifyReply, answer: ErrorResponse, rule_id: RuleId, logged = {}): void {
  reply.request.logFields = { error: answer.error, rule: answer.description, rule_id, ...logged };
  answerError(reply, answer);
}

/** Answers an undecodable path. Fastify calls no hook for it, so this writes the log line. */
export function answerBadPath(_error: Error, request: FastifyRequest, reply: FastifyReply): void {
  if (!limitPipelining(request, reply)) return;
  const rule = 'The URL can’t be parsed.';
  request.logFields = { error: 'not_found', rule, rule_id: 'unreadable_address' };
  const { id: reference, method, logFields } = request;
  request.log.info({ method, path: loggedPathOf(request), status: 404, ...logFields }, 'request');
  noteRefusal(request, 404);
  answerError(reply.header('x-request-id', reference), NOT_FOUND);
}

/** The contract's codes that a page shows (7.1); other errors are ours and mean nothing to an application. */
const SHOWN_CODES = ['invalid_request', 'invalid_scope', 'unauthorized_client'] as const;

/** Answers with JSON (contract 7.2) or a page (7.1), depending on the route, never with a redirect. */
function answerError(reply: FastifyReply, response: ErrorResponse): FastifyReply {
  const { status, error, description, inJson } = response;
  const { id: reference, routeOptions, server } = reply.request;
  const answers = answersAt(server.routeTable, routeOptions.url ?? pathOf(reply.request));
  if (answers === 'json' || inJson) {
    const full = status < 500 ? description : `${description} Reference ${reference}.`;
    return sendJson(reply, status, { error, error_description: full });
  }
  const code = SHOWN_CODES.find((shown) => shown === error) ?? null;
  return showPage(reply, ERROR_PAGE, describeError(reply.request, { ...response, code }), status);
}

/** Fastify's own request errors (too long, unreadable type) are `invalid_request` too. */
function asOAuthError(error: FastifyError): OAuthError | null {
  if (error instanceof OAuthError) return error;
  const { statusCode = 500, code } = error;
  if (statusCode < 400 || statusCode >= 500) return null;
  const more = { rule: `the body can't be read: ${code}`, cause: error };
  return code === 'FST_ERR_CTP_BODY_TOO_LARGE'
    ? new OAuthError('too_long', 'The request is too long.', more)
    : new OAuthError('unreadable_body', NOT_A_FORM, more);
}

// Our own errors: status, code, JSON description, and the page's cause.
const NOT_FOUND = response(404, 'not_found', 'Not found.', 'notFound');
const NO_OPENID = {
  ...NOT_FOUND,
  inJson: true as const,
  description: 'Not an OpenID provider: its OAuth metadata is at /.well-known/oauth-authorization-server.',
};
const TOO_MANY_FAILURES = response(
  429,
  'temporarily_unavailable',
  'Too many requests from this address failed. Find out why before you try again.',
  'unavailable', // no page has this limit
);
const OUR_FAULT = response(500, 'server_error', 'Internal error. Please try again.', 'ourFault');
const UNAVAILABLE = response(503, 'temporarily_unavailable', 'Please try again in a moment.', 'unavailable');
const PROVIDER_AWAY = { ...UNAVAILABLE, cause: 'providerAway' } as const;

function response(status: number, error: string, description: string, cause: Cause): ErrorResponse {
  return { status, error, description, cause };
}

/** By path, for unrouted requests: `hasRoute` would treat the path as a pattern. `answers`: the format of errors. */
export type RouteTable = Readonly<{ path: string; method: string; answers: 'json' | 'page' }>[];

/** The format of all routes at the path or below it, else of its nearest folder; pages if they differ. */
function answersAt(routes: RouteTable, path: string): 'json' | 'page' {
  // More segments than any route has, and few for a path of thousands.
  for (const segments = path.split('/', 8); segments.length > 0; segments.pop()) {
    const folder = `${segments.join('/')}/`;
    const inside = routes.filter((route) => `${route.path}/`.startsWith(folder));
    if (inside.length > 0) return inside.every(({ answers }) => answers === 'json') ? 'json' : 'page';
  }
  return 'page';
}

/** For a group of routes. Call it before adding them. */
export function setErrorFormat(group: FastifyInstance, answers: 'json' | 'page'): void {
  group.addHook('onRoute', ({ url: path, method: methods }) => {
    group.routeTable.push(...[methods].flat().map((method) => ({ path, method, answers })));
  });
}
