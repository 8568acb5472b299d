import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
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

/** A refusal as it is answered. */
export class Refusal extends Error {
  readonly status: number;
  readonly rule: string;
  /** By its name outside. */
  readonly field: string | undefined;

  constructor(status: number, rule: string, message: string, field?: string) {
    super(message);
    this.status = status;
    this.rule = rule;
    this.field = field;
  }
}

/** What operations throw, the special before the general: status and rule. */
const KINDS = [
  [InputError, 422, 'invalid_field'],
  [RegistrationError, 422, 'refused_value'],
  [UsageError, 400, 'unknown_after'],
  [ForbiddenError, 403, 'not_permitted'],
  [NotFoundError, 404, 'not_found'],
  [StateError, 409, 'state'],
  [OAuthError, 400, 'unreadable_request'],
] as const;

/** Answers an error by RFC 9457. One that is neither a refusal nor a 503 is internal, logged with its cause. */
export function answerProblem(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  const { status, rule, field, message: detail } = refusalOf(error);
  if (status === 500) request.log.error({ err: error }, 'the operation failed');
  if (status === 503) reply.header('retry-after', RETRY_AFTER_SECONDS);
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="operators"');
  request.brokenRule = rule;
  const problem = { title: STATUS_CODES[status], status, detail, rule, field, reference: request.id };
  return sendJson(reply, status, problem, 'application/problem+json');
}

function refusalOf(error: FastifyError & { field?: string | null }): Refusal {
  if (error instanceof Refusal) return error;
  const [, known, rule = ''] = KINDS.find(([kind]) => error instanceof kind) ?? [];
  const { message, field, statusCode = 500 } = error;
  if (known !== undefined) return new Refusal(known, rule, message, field ? snake(field) : undefined);
  const unavailable = whyUnavailable(error);
  if (unavailable !== null)
    return new Refusal(
      503,
      unavailable,
      'Please try again in a moment. What has begun may still be done: look before you repeat it.',
    );
  if (statusCode < 500) return new Refusal(statusCode, 'unreadable_request', message); // of Fastify
  return new Refusal(500, 'server_error', 'The fault is ours: the log has its cause under the reference.');
}
