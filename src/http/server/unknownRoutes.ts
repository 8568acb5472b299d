import type { FastifyInstance } from 'fastify';
import { pathOf } from './parameters.ts';
import { answerRefusal } from './refusal.ts';

/**
 * Answers what no route takes, before its body is read: 405 with `Allow` where the address exists, 404 where
 * it doesn't. Call it before the routes are added.
 */
export function answerUnknownRoutes(app: FastifyInstance): void {
  // Fastify can say whether it has a route, but takes the path it is asked about for a pattern.
  const methods = new Map<string, string[]>();
  app.addHook('onRoute', ({ url, method }) => {
    methods.set(url, [...(methods.get(url) ?? []), ...(Array.isArray(method) ? method : [method])]);
  });
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    const path = pathOf(request);
    const allowed = methods.get(path)?.toSorted().join(', ');
    const refusal = allowed === undefined ? NOT_FOUND : notAllowed(allowed, request.method);
    if (allowed !== undefined) reply.header('allow', allowed);
    const known = allowed === undefined ? {} : { path };
    request.logFields = { error: refusal.error, rule: refusal.text, ...known };
    answerRefusal(request, reply, refusal);
  });
}

const NOT_FOUND = {
  status: 404,
  error: 'not_found',
  title: 'There is no such page',
  text: 'There is nothing at this address.',
};

function notAllowed(allowed: string, method: string) {
  const text = `This address takes ${allowed}, not ${method}.`;
  return { status: 405, error: 'invalid_request', title: 'This page can’t be opened like that', text };
}
