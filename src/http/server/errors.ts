import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isOverload, isPassing } from '../../flows/context.ts';
import type { DatabaseWatch } from '../../flows/databaseWatch.ts';
import { OAuthError } from '../../rules/error.ts';
import { FailureLimit } from './failureLimit.ts';
import { answerRefusal, type Refusal } from './refusal.ts';

/** How long a client should wait before it tries again while the database is away. */
export const RETRY_AFTER_SECONDS = '5';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the request's log line says beside its status. */
    logFields?: { readonly error: string; readonly rule: string; readonly path?: string };
    /** Why it is answered 503, for the metrics. */
    unavailable?: 'database' | 'overload';
  }
  interface FastifyContextConfig {
    /** Whether somebody who guesses would try here, so that failures are limited. */
    readonly limitsFailures?: boolean;
  }
}

/**
 * Answers every error of every route, here and nowhere else. A refusal is noted in the request's log line with
 * its rule, and so is that the database was away or too much came at once; a fault of ours is logged with its cause.
 */
export function answerErrors(app: FastifyInstance, watch: DatabaseWatch): void {
  const failures = new FailureLimit();
  app.setErrorHandler(async (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const refused = asOAuthError(error);
    if (refused !== undefined) {
      request.logFields = { error: refused.code, rule: refused.rule };
      const wait = request.routeOptions.config.limitsFailures ? failures.note(request) : 0;
      if (wait > 0) return answerRefusal(request, reply.header('retry-after', wait), TOO_MANY);
      return answerRefusal(request, reply, describe(refused));
    }
    if (!isPassing(error)) {
      request.log.error({ err: error }, 'the request failed');
      return answerRefusal(request, reply, BROKEN);
    }
    const overload = isOverload(error);
    request.unavailable = overload ? 'overload' : 'database';
    request.logFields = { error: AWAY.error, rule: overload ? error.message : watch.note(error) };
    watch.countRefused();
    return answerRefusal(request, reply.header('retry-after', RETRY_AFTER_SECONDS), AWAY);
  });
}

/** Fastify's own complaints about a request (too long, unreadable type) are `invalid_request` too. */
function asOAuthError(error: FastifyError): OAuthError | undefined {
  if (error instanceof OAuthError) return error;
  const { statusCode = 500, code } = error;
  if (statusCode < 400 || statusCode >= 500) return undefined;
  const tooLong = code === 'FST_ERR_CTP_BODY_TOO_LARGE';
  const message = tooLong
    ? 'The request is too long.'
    : 'The body must be application/x-www-form-urlencoded.';
  return new OAuthError('invalid_request', message, `the body can't be read: ${code}`, { cause: error });
}

/**
 * Always 400 for the contract's codes: the contract shows it for `invalid_grant`, and several clients lose the
 * body of a 401.
 */
function describe({ code, message }: OAuthError): Refusal {
  return { status: 400, error: code, title: TITLES[code], text: message };
}

const TITLES: Record<OAuthError['code'], string> = {
  invalid_request: 'This request can’t be carried out',
  invalid_scope: 'The application asked for rights we can’t give',
  unauthorized_client: 'This application may not ask you',
  invalid_grant: 'This code can’t be used',
};

const TOO_MANY: Refusal = {
  status: 429,
  error: 'temporarily_unavailable',
  title: 'Too many failures',
  text: 'Too many requests from this address failed. Find out why before you try again.',
};

const AWAY: Refusal = {
  status: 503,
  error: 'temporarily_unavailable',
  title: 'We can’t answer just now',
  text: 'Please try again in a moment.',
};

const BROKEN: Refusal = {
  status: 500,
  error: 'server_error',
  title: 'Something went wrong',
  text: 'The fault is ours. Please try again.',
};
