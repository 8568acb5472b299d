import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Context } from '../../flows/context.ts';
import { ClientLogos, type ServedLogo } from '../../flows/logos.ts';
import { contentTypeOf } from '../../rules/logo.ts';

/** The logos of the service and of applications, for `<img>` on our own pages. Their addresses have a hash of the bytes. */
export function imageRoutes(app: FastifyInstance, context: Context): void {
  const { logo } = context.brand;
  const brandLogo = logo && { contentType: contentTypeOf(logo.file), body: logo.body };
  const clientLogos = new ClientLogos(context);

  app.get<{ Params: { name: string } }>('/brand/:name', async ({ params }, reply) =>
    sendImage(reply, logo?.path === `/brand/${params.name}` ? brandLogo : null),
  );

  app.get<{ Params: { name: string } }>('/logo/:name', async ({ params }, reply) =>
    sendImage(reply, await clientLogos.find(params.name)),
  );
}

/** An SVG that is opened by itself runs in a sandbox without an origin; other sites can't show it. */
const HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
};

function sendImage(reply: FastifyReply, image: ServedLogo | null): FastifyReply {
  if (image === null) return reply.code(404).header('cache-control', 'no-store').send();
  return reply.headers(HEADERS).type(image.contentType).send(image.body);
}
