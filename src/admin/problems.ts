import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { whyUnavailable } from '../flows/common/unavailable.ts';
import { sendJson } from '../http/request/json.ts';
import { RETRY_AFTER_SECONDS } from '../http/server/errors.ts';
import { OAuthError, REFUSALS, Refusal } from '../rules/common/error.ts';

/** Answers an error by RFC 9457. One that is neither a refusal nor a 503 is internal, logged with its cause. */
export function answerProblem(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
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
