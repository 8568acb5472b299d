import type { FastifyInstance, FastifyReply } from 'fastify';
import { logoFinder } from '../../flows/authorize/logos.ts';
import type { Context } from '../../flows/common/context.ts';
import { contentTypeOf, type Logo } from '../../rules/face/logo.ts';
import { FORM_SCRIPT } from '../pages/look.ts';

/** The logos, the style and the only script of our pages. Their addresses contain a hash of the bytes. */
export function assetRoutes(app: FastifyInstance, context: Context): void {
  const { logo } = context.brand;
  const findLogo = logoFinder(context);

  app.get<{ Params: { name: string } }>('/oauth/brand/:name', async ({ params }, reply) =>
    sendImage(reply, logo?.path === `/oauth/brand/${params.name}` ? logo : null),
  );

  app.get<{ Params: { name: string } }>('/oauth/logo/:name', async ({ params }, reply) =>
    sendImage(reply, await findLogo(params.name)),
  );

  app.get(FORM_SCRIPT.path, async (_request, reply) =>
    reply.headers(HEADERS).type('text/javascript; charset=utf-8').send(FORM_SCRIPT.body),
  );

  // During an upgrade another replica's page requests its own style: it gets this one, uncached.
  app.get('/oauth/style-:hash([0-9a-f]{32}).css', async ({ url }, reply) => {
    const { path, body } = app.branding.style;
    reply.headers(HEADERS).type('text/css; charset=utf-8');
    return (url === path ? reply : reply.header('cache-control', 'no-store')).send(body);
  });
}

/** Cached forever; other sites can't show or run it. */
const HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
};
/** An SVG opened directly runs in a sandbox without an origin. */
const SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

function sendImage(reply: FastifyReply, image: Logo | null): FastifyReply {
  if (image === null) return reply.code(404).header('cache-control', 'no-store').send();
  reply.headers(HEADERS).header('content-security-policy', SANDBOX);
  return reply.type(contentTypeOf(image.file)).send(image.body);
}
