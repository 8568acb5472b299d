import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RETRY_AFTER_SECONDS, sortFault } from './faults.ts';

/**
 * Answers with a JSON document and the headers of contract 4.2, as they are written there: a Buffer keeps
 * Fastify from adding a charset to `application/json`.
 */
export function sendJson(reply: FastifyReply, status: number, document: object): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'application/json')
    .header('cache-control', 'no-store')
    .header('x-content-type-options', 'nosniff')
    .send(Buffer.from(JSON.stringify(document)));
}

/** Makes every error of these routes a JSON document: always 400 for the contract's codes (7.2), for clients that lose the body of a 401. */
export function answerFaultsWithJson(app: FastifyInstance): void {
  app.setErrorHandler(async (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const fault = sortFault(error, request);
    if (fault.kind === 'refused') {
      return sendJson(reply, 400, { error: fault.error.code, error_description: fault.error.message });
    }
    if (fault.kind === 'away') {
      reply.header('retry-after', RETRY_AFTER_SECONDS);
      return sendJson(reply, 503, {
        error: 'temporarily_unavailable',
        error_description: 'Try again in a moment.',
      });
    }
    return sendJson(reply, 500, { error: 'server_error', error_description: `Reference ${request.id}` });
  });
}
