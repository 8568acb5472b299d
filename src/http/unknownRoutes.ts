import type { FastifyInstance, FastifyRequest } from 'fastify';
import { sendJson } from './json.ts';
import type { ErrorPage } from './pages.ts';
import { pathOf } from './requestParameters.ts';
import { showPage } from './views.ts';

const METHODS = ['GET', 'HEAD', 'POST'] as const;

/** Addresses that programs call: they are told in JSON. */
const JSON_PATHS = /^\/(oauth\/(token|introspect)|health\/)/;

/** Answers what no route takes: 405 with `Allow` where the address exists, 404 where it doesn't. */
export function answerUnknownRoutes(app: FastifyInstance): void {
  app.setNotFoundHandler(async (request, reply) => {
    const path = pathOf(request);
    const allowed = METHODS.filter((method) => app.hasRoute({ url: path, method }));
    const status = allowed.length > 0 ? 405 : 404;
    const text = describe(request, allowed);
    if (status === 405) reply.header('allow', allowed.join(', '));
    request.logDetail = { error: 'invalid_request', rule: text };
    if (!JSON_PATHS.test(path))
      return showPage(reply, { ...PAGES[status], text, reference: request.id }, status);
    return sendJson(reply, status, { error: 'invalid_request', error_description: text });
  });
}

function describe(request: FastifyRequest, allowed: readonly string[]): string {
  if (allowed.length === 0) return 'There is nothing at this address.';
  return `This address takes ${allowed.join(', ')}, not ${request.method}.`;
}

const PAGES = {
  404: { name: 'error', title: 'There is no such page', code: null },
  405: { name: 'error', title: 'This page can’t be opened like that', code: 'invalid_request' },
} satisfies Record<number, Omit<ErrorPage, 'text' | 'reference'>>;
