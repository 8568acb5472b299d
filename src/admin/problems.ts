import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyReply } from 'fastify';
import { whyUnavailable } from '../flows/common/unavailable.ts';
import { sendJson } from '../http/request/json.ts';
import { RETRY_AFTER_SECONDS } from '../http/server/errors.ts';
import { ForbiddenError, InputError, NotFoundError, snake, UsageError } from '../operations/operation.ts';
import { RegistrationError } from '../rules/account/registration.ts';
import { OAuthError, StateError } from '../rules/common/error.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The rule of a refusal, for the log. */
    brokenRule: string | null;
  }
}

/** A refusal of the API itself. */
export class Refusal extends Error {
  readonly status: number;
  readonly rule: string;

  constructor(status: number, rule: string, message: string) {
    super(message);
    this.status = status;
    this.rule = rule;
  }
}

/** By class, the special before the general: status and rule. */
const REFUSALS = [
  [InputError, 422, 'invalid_field'],
  [RegistrationError, 422, 'refused_value'],
  [UsageError, 400, 'refused_value'],
  [ForbiddenError, 403, 'not_permitted'],
  [NotFoundError, 404, 'not_found'],
  [StateError, 409, 'state'],
  [OAuthError, 400, 'unreadable_request'],
] as const;

/** Answers an error by RFC 9457. One that is neither a refusal nor a 503 is internal, logged with its cause. */
export function answerProblem(error: FastifyError, reply: FastifyReply): FastifyReply {
  const { request } = reply;
  const { status, rule } = verdictOn(error);
  if (status === 500) request.log.error({ err: error }, 'the operation failed');
  if (status === 503) reply.header('retry-after', RETRY_AFTER_SECONDS);
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="operators"');
  request.brokenRule = rule;
  const { field } = error as { field?: string | null };
  const detail = DETAILS[status] ?? error.message;
  const problem = { title: STATUS_CODES[status], status, detail, rule, reference: request.id };
  return sendJson(reply, status, field ? { ...problem, field: snake(field) } : problem, PROBLEM);
}

const PROBLEM = 'application/problem+json';

/** Instead of messages that are for the log. */
const DETAILS: Readonly<Record<number, string>> = {
  500: 'The fault is ours: the log has its cause under the reference.',
  503: 'Please try again in a moment.',
};

function verdictOn(error: FastifyError): { status: number; rule: string } {
  if (error instanceof Refusal) return error;
  const [, status, rule] = REFUSALS.find(([kind]) => error instanceof kind) ?? [];
  if (status !== undefined && rule !== undefined) return { status, rule };
  const unavailable = whyUnavailable(error);
  if (unavailable !== null) return { status: 503, rule: unavailable };
  const { statusCode = 500 } = error; // Fastify's own, of a body that can't be read
  return statusCode < 500
    ? { status: statusCode, rule: 'unreadable_request' }
    : { status: 500, rule: 'server_error' };
}
