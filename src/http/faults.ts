import type { FastifyRequest } from 'fastify';
import { isDatabaseAway } from '../flows/context.ts';
import { OAuthError } from '../oauth/error.ts';

/** How an error is answered, whatever the form of the answer. */
export type Fault =
  | { readonly kind: 'refused'; readonly error: OAuthError }
  | { readonly kind: 'away' }
  | { readonly kind: 'broken' };

/** How long a client should wait before it tries again while the database is away. */
export const RETRY_AFTER_SECONDS = '5';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the request's log line says beside its status. */
    logDetail?: { readonly error: string; readonly rule: string };
  }
}

/**
 * Sorts an error into the three kinds of answer and notes for the log why, once: a refusal by its rule, a
 * fault of ours with its cause.
 */
export function sortFault(error: unknown, request: FastifyRequest): Fault {
  const refusal = asRefusal(error);
  if (refusal !== undefined) {
    request.logDetail = { error: refusal.code, rule: refusal.rule };
    return { kind: 'refused', error: refusal };
  }
  request.log.error({ err: error }, 'the request failed');
  return { kind: isDatabaseAway(error) ? 'away' : 'broken' };
}

/** Fastify's own complaints about a request (too long, unreadable type) are `invalid_request` too. */
function asRefusal(error: unknown): OAuthError | undefined {
  if (error instanceof OAuthError) return error;
  const { statusCode, code } = error as { statusCode?: number; code?: string };
  if (statusCode === undefined || statusCode < 400 || statusCode >= 500) return undefined;
  const message =
    code === 'FST_ERR_CTP_BODY_TOO_LARGE'
      ? 'The request is too long.'
      : 'The body must be application/x-www-form-urlencoded.';
  return new OAuthError('invalid_request', message, `the body can't be read: ${code}`, { cause: error });
}
