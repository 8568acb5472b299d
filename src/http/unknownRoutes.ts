import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendJson } from './json.ts';
import type { ErrorPage } from './pages.ts';
import { pathOf } from './requestParameters.ts';
import { showPage } from './views.ts';

/** Addresses that programs call: they are told in JSON. */
const JSON_PATHS = /^\/(oauth\/(token|introspect)|health\/)/;

/** Answers what no route takes: 405 with `Allow` where the address exists, 404 where it doesn't. Call it before the routes. */
export function answerUnknownRoutes(app: FastifyInstance): void {
  // Fastify can say whether it has a route, but takes the path it is asked about for a pattern.
  const methods = new Map<string, string[]>();
  app.addHook('onRoute', ({ url, method }) => {
    methods.set(url, [...(methods.get(url) ?? []), ...(Array.isArray(method) ? method : [method])]);
  });
  app.setNotFoundHandler(async (request, reply) => {
    const allowed = methods.get(pathOf(request))?.toSorted().join(', ');
    if (allowed === undefined) return answer(request, reply, 404, 'There is nothing at this address.');
    reply.header('allow', allowed);
    return answer(request, reply, 405, `This address takes ${allowed}, not ${request.method}.`);
  });
}

function answer(request: FastifyRequest, reply: FastifyReply, status: 404 | 405, text: string): FastifyReply {
  const code = status === 405 ? 'invalid_request' : null;
  request.logDetail = { error: code ?? 'not_found', rule: text };
  if (JSON_PATHS.test(pathOf(request))) {
    return sendJson(reply, status, { error: 'invalid_request', error_description: text });
  }
  const page: ErrorPage = { name: 'error', title: TITLES[status], text, code, reference: request.id };
  return showPage(reply, page, status);
}

const TITLES = { 404: 'There is no such page', 405: 'This page can’t be opened like that' };
