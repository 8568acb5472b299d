import type { FastifyInstance } from 'fastify';
import { pathOf } from './requestParameters.ts';

/**
 * One line for each request, written when it is answered: what was asked, what came of it and, for a refusal,
 * which rule. Never the query, a header or a body: those hold what must not be logged.
 */
export function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    request.log.info(
      {
        method: request.method,
        path: pathOf(request),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        ...request.logDetail,
      },
      'request',
    );
  });
}
