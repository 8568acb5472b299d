import type { FastifyInstance } from 'fastify';
import { FORM_SCRIPT } from '../browser/look.ts';

/** Kept for good, as its address changes with it; other sites can't run it. */
const HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
};

/** The script of pages that ask for a password. */
export function scriptRoutes(app: FastifyInstance): void {
  app.get(FORM_SCRIPT.path, async (_request, reply) =>
    reply.headers(HEADERS).type('text/javascript; charset=utf-8').send(FORM_SCRIPT.body),
  );
}
