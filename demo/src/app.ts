import cookie from '@fastify/cookie';
import fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import { addPages, show } from './pages.ts';
import { PaymentApi } from './paymentApi.ts';
import { Sessions } from './sessions.ts';
import type { DemoSettings } from './settings.ts';
import { addSteps } from './steps.ts';

const MAX_BODY_BYTES = 32_768;

export async function buildDemo(settings: DemoSettings): Promise<FastifyInstance> {
  const app = fastify({ logger: false, forceCloseConnections: true, bodyLimit: MAX_BODY_BYTES });
  addGuard(app, settings);
  await app.register(cookie);
  app.removeAllContentTypeParsers();
  const form = { parseAs: 'string' } as const;
  app.addContentTypeParser('application/x-www-form-urlencoded', form, (_request, body, done) => {
    done(null, new URLSearchParams(String(body)));
  });
  await addPages(app, settings);
  addSteps(app, { ...settings, sessions: new Sessions(), payments: new PaymentApi(settings.resource) });
  app.setNotFoundHandler((request, reply) => show(request, reply.code(404), 'notice'));
  app.setErrorHandler<FastifyError>((error, request, reply) =>
    show(request, reply.code(error.statusCode ?? 500), 'notice'),
  );
  return app;
}

/** Blocks other sites: the pages show passwords and have buttons. */
function addGuard(app: FastifyInstance, { url, application }: DemoSettings): void {
  const policy = `default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:;
    form-action 'self' ${new URL(application.server).origin}; base-uri 'none'; frame-ancestors 'none'`;
  const headers = {
    'cache-control': 'no-store',
    'content-security-policy': policy.replaceAll(/\s+/g, ' '),
    // With no-referrer, our own forms would send `Origin: null`. The callback's address contains a code.
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  };
  const { host } = new URL(url);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(headers);
    const isPost = request.method === 'POST';
    // DNS rebinding: another site's name that resolves to this machine reads nothing.
    if (request.headers.host !== host) return isPost ? reply.code(403).send() : reply.redirect(url, 303);
    // CSRF: the cookie is SameSite=Lax, and browsers send the origin with each post.
    if (isPost && request.headers.origin !== url) return reply.code(403).send();
  });
}
