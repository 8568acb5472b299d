import { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Context } from '../../flows/context.ts';
import { OWN_FAULT, RefusalLog } from '../../flows/refusals.ts';
import { loggedPathOf } from '../parameters.ts';
import { addressOf } from './caller.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether machines ask it every few seconds: its lines are for `debug` only. */
    readonly isHealthCheck?: boolean;
  }
  interface FastifyInstance {
    /** Why requests were refused, for `assent explain`. */
    readonly refusals: RefusalLog;
  }
}

/**
 * Writes one log line for each request when it is answered: who asked what, the status and, for a refusal, the rule.
 * Never the query, a header or a body: those hold what must not be logged. Fastify's own lines about requests are off.
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
      address: addressOf(request),
      ms: Math.round(reply.elapsedTime * 10) / 10,
      ...request.logFields,
    };
    if (reply.statusCode >= 400) noteRefusal(request, reply.statusCode);
    if (error) request.log.warn({ ...line, err: error }, 'the answer was not sent whole');
    else if (request.routeOptions.config?.isHealthCheck) request.log.debug(line, 'request');
    else request.log.info(line, 'request');
  }
}

/** Keeps refusals for `assent explain`; those that wait are written before the server ends. */
export function keepRefusals(app: FastifyInstance, context: Context): void {
  const refusals = new RefusalLog(context);
  app.decorate('refusals', refusals);
  app.addHook('preClose', () => refusals.write());
}

/** Forms that are shown again: no reference stands on them, and being told to wait writes nothing. */
const SHOWN_AGAIN = ['wrong_password', 'too_many_tries'];

/** Keeps why a request was refused, under the reference that its answer has. */
export function noteRefusal(request: FastifyRequest, status: number): void {
  const { id: reference, method, server, logFields } = request;
  const { error, rule } = logFields ?? OWN_FAULT;
  if (SHOWN_AGAIN.includes(error)) return;
  const refusal = { reference, method, path: loggedPathOf(request), status, error, rule };
  server.refusals.note(refusal, addressOf(request));
}
