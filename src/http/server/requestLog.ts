import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { callerOf } from './caller.ts';
import { loggedPathOf } from './parameters.ts';
import { noteRefusal } from './refusal.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether machines ask it every few seconds: its lines are for `debug` only. */
    readonly isHealthCheck?: boolean;
  }
}

/**
 * One line for each request, written when it is answered: who asked what, what came of it and, for a refusal,
 * which rule. Never the query, a header or a body: those hold what must not be logged. Fastify's own lines
 * about requests are off.
 */
export class RequestLog extends LogController {
  constructor() {
    super({ disableRequestLogging: true, requestIdLogLabel: 'ref' });
  }

  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const line = {
      method: request.method,
      path: loggedPathOf(request),
      status: reply.statusCode,
      address: callerOf(request).address,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      ...request.logFields,
    };
    if (reply.statusCode >= 400) noteRefusal(request, reply.statusCode);
    if (error) request.log.warn({ ...line, err: error }, 'the answer was not sent whole');
    else if (request.routeOptions.config?.isHealthCheck) request.log.debug(line, 'request');
    else request.log.info(line, 'request');
  }
}
