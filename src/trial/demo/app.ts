import cookie from '@fastify/cookie';
import fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import { addGuard } from './guard.ts';
import { PaymentApi } from './paymentApi.ts';
import { Sessions } from './sessions.ts';
import type { DemoSettings } from './settings.ts';
import { addSteps } from './steps.ts';
import { addViews, show } from './views.ts';

const MAX_BODY_BYTES = 32_768;

/** @returns the application, ready to listen */
export async function buildDemo(settings: DemoSettings): Promise<FastifyInstance> {
  const { url, application, resource } = settings;
  const app = fastify({ logger: false, forceCloseConnections: true, bodyLimit: MAX_BODY_BYTES });
  addGuard(app, url, application.server);
  await app.register(cookie);
  app.removeAllContentTypeParsers();
  const form = { parseAs: 'string' } as const;
  app.addContentTypeParser('application/x-www-form-urlencoded', form, (_request, body, done) => {
    done(null, new URLSearchParams(String(body)));
  });
  app.addHook('preHandler', async (request) => {
    request.body ??= new URLSearchParams(); // of a form without fields
  });
  await addViews(app);
  addSteps(app, { settings, sessions: new Sessions(), payments: new PaymentApi(resource) });
  app.setNotFoundHandler((request, reply) => show(request, reply.code(404), 'notice', { notice: 'missing' }));
  app.setErrorHandler<FastifyError>((error, request, reply) =>
    show(request, reply.code(error.statusCode ?? 500), 'notice', { notice: 'broken' }),
  );
  return app;
}
