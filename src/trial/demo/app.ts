import cookie from '@fastify/cookie';
import fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import type { Application } from '../../../examples/oauthClient.mjs';
import { addGuard } from './guard.ts';
import { PaymentApi, type Resource } from './paymentApi.ts';
import { Sessions } from './sessions.ts';
import { addSteps } from './steps.ts';
import { addViews, show } from './views.ts';

/** A person of the trial, who can sign in at the server. */
export interface TrialUser {
  readonly login: string;
  readonly name: string;
  readonly password: string;
  /** Null for one who has none. */
  readonly paymentPassword: string | null;
}

/** What the application was given: where it is and where the server is, what it was registered with, and whom it introduces. */
export interface DemoSettings {
  readonly url: string;
  readonly application: Application;
  readonly resource: Resource;
  /** To be shown on the first page: no application knows passwords, but in a trial there must be a place to read them. */
  readonly users: readonly TrialUser[];
}

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
