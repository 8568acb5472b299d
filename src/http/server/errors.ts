import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DatabaseWatch } from '../../flows/databaseWatch.ts';
import { whyUnavailable } from '../../flows/unavailable.ts';
import { OAuthError } from '../../rules/error.ts';
import { showPage } from '../browser/views.ts';
import { NOT_A_FORM, pathOf } from '../parameters.ts';
import { FailureLimit } from './failureLimit.ts';
import { sendJson } from './json.ts';
import { RouteTable } from './routeTable.ts';

/** How long a client should wait after a 503 before it tries again. */
export const RETRY_AFTER_SECONDS = '5';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the request's log line says beside its status. */
    logFields: { readonly error: string; readonly rule: string; readonly path?: string } | null;
    /** Why it is answered 503, for the metrics. */
    unavailable: 'database' | 'overload' | null;
  }
  interface FastifyContextConfig {
    /** Whether secrets could be guessed here, so that failures are limited. */
    readonly limitsFailures?: boolean;
  }
}

/** An error before it takes the form that its caller reads. */
interface ErrorResponse {
  readonly status: number;
  /** The contract's code, or a word of our own. */
  readonly error: string;
  readonly title: string;
  readonly text: string;
}

/**
 * Answers every error of every route. The log line of a refused request names the rule, that of an unavailable one the
 * reason; any other error is a fault of ours and logged with its cause.
 */
export function answerErrors(app: FastifyInstance, watch: DatabaseWatch): void {
  app.decorateRequest('logFields', null);
  app.decorateRequest('unavailable', null);
  const failures = new FailureLimit();
  app.setErrorHandler(async (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const refused = asOAuthError(error);
    if (refused !== null) return answerRefused(reply, refused, failures);
    const unavailable = whyUnavailable(error);
    if (unavailable === null) {
      request.log.error({ err: error }, 'the request failed');
      return answerError(reply, OUR_FAULT);
    }
    request.unavailable = unavailable;
    const rule = unavailable === 'overload' ? error.message : watch.noteError(error);
    request.logFields = { error: UNAVAILABLE.error, rule };
    watch.countRefused();
    return answerError(reply.header('retry-after', RETRY_AFTER_SECONDS), UNAVAILABLE);
  });
}

/** Always 400: the contract shows it for `invalid_grant`, and several clients lose the body of a 401. */
function answerRefused(reply: FastifyReply, refused: OAuthError, failures: FailureLimit): FastifyReply {
  const { code, rule, message } = refused;
  const { request } = reply;
  request.logFields = { error: code, rule };
  const wait = request.routeOptions.config.limitsFailures ? failures.note(request) : 0;
  if (wait > 0) return answerError(reply.header('retry-after', wait), TOO_MANY_FAILURES);
  return answerError(reply, response(400, code, TITLES[code], message));
}

/**
 * Answers what no route takes, before its body is read: 405 with `Allow` where the path exists, 404 where it doesn't.
 * Call it before the routes are added.
 */
export function answerUnknownRoutes(app: FastifyInstance): void {
  const routeTable = new RouteTable();
  app.decorate('routeTable', routeTable);
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    const path = pathOf(request);
    const allowed = routeTable.allowedAt(path);
    const unknown = allowed === '' ? NOT_FOUND : notAllowed(allowed, request.method);
    if (allowed !== '') reply.header('allow', allowed);
    request.logFields = { error: unknown.error, rule: unknown.text, ...(allowed !== '' && { path }) };
    answerError(reply, unknown);
  });
}

/** The contract's codes that a page shows (7.1); other errors are ours and mean nothing to an application. */
const SHOWN_CODES = ['invalid_request', 'invalid_scope', 'unauthorized_client'];

/** Answers with JSON (contract 7.2) or a page (7.1), whichever the route answers with, never with a redirect. */
function answerError(reply: FastifyReply, { status, error, title, text }: ErrorResponse): FastifyReply {
  const { id: reference, routeOptions, server } = reply.request;
  if (server.routeTable.answersAt(routeOptions.url ?? pathOf(reply.request)) === 'json') {
    const description = status < 500 ? text : `${text} Reference ${reference}.`;
    return sendJson(reply, status, { error, error_description: description });
  }
  const code = SHOWN_CODES.includes(error) ? error : null;
  return showPage(reply, { name: 'error', title, text, code, reference }, status);
}

/** Fastify's own complaints about a request (too long, unreadable type) are `invalid_request` too. */
function asOAuthError(error: FastifyError): OAuthError | null {
  if (error instanceof OAuthError) return error;
  const { statusCode = 500, code } = error;
  if (statusCode < 400 || statusCode >= 500) return null;
  const message = code === 'FST_ERR_CTP_BODY_TOO_LARGE' ? 'The request is too long.' : NOT_A_FORM;
  return new OAuthError('invalid_request', message, `the body can't be read: ${code}`, { cause: error });
}

const TITLES: Record<OAuthError['code'], string> = {
  invalid_request: 'This request can’t be carried out',
  invalid_scope: 'The application asked for rights we can’t give',
  unauthorized_client: 'This application may not ask you',
  invalid_grant: 'This code can’t be used',
};

// The errors that are ours: status, code, title and text.
const NOT_FOUND = response(404, 'not_found', 'There is no such page', 'There is nothing at this address.');
const TOO_MANY_FAILURES = response(
  429,
  'temporarily_unavailable',
  'Too many failures',
  'Too many requests from this address failed. Find out why before you try again.',
);
const OUR_FAULT = response(
  500,
  'server_error',
  'Something went wrong',
  'The fault is ours. Please try again.',
);
const UNAVAILABLE = response(
  503,
  'temporarily_unavailable',
  'We can’t answer just now',
  'Please try again in a moment.',
);

function notAllowed(allowed: string, method: string): ErrorResponse {
  const text = `This address takes ${allowed}, not ${method}.`;
  return response(405, 'invalid_request', 'This page can’t be opened like that', text);
}

function response(status: number, error: string, title: string, text: string): ErrorResponse {
  return { status, error, title, text };
}
