import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import cookie from '@fastify/cookie';
import view from '@fastify/view';
import { Eta } from 'eta';
import fastify, { type FastifyInstance } from 'fastify';

// The demo application of trial mode: an ordinary OAuth client on a site of its own. It knows nothing of the
// server but its address, and does what every application does: send the browser, take the code, exchange it.

const VIEWS = fileURLToPath(new URL('../../views/demo', import.meta.url));
const STATE_COOKIE = 'demo_state';
const STATE_LIFETIME_SECONDS = 600;

/** What the application was given when it was registered, and where the server is. */
export type DemoSettings = Readonly<Record<'baseUrl' | 'clientId' | 'clientSecret' | 'redirectUri', string>>;

/** The parameters of an authorization response (RFC 6749, sections 4.1.2 and 4.1.2.1). */
interface AuthorizationResponse {
  readonly code?: string;
  readonly error?: string;
  readonly state?: string;
}

/** @returns the application, ready to listen */
export async function buildDemo(settings: DemoSettings): Promise<FastifyInstance> {
  const app = fastify({ logger: false, forceCloseConnections: true });
  await app.register(cookie);
  await app.register(view, {
    engine: { eta: new Eta({ views: VIEWS, cache: true }) },
    root: VIEWS,
    production: true,
  });
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
  });

  app.get('/', async (_request, reply) => {
    const state = randomBytes(16).toString('base64url');
    const { baseUrl, clientId, redirectUri } = settings;
    const options = { path: '/', httpOnly: true, sameSite: 'lax', maxAge: STATE_LIFETIME_SECONDS } as const;
    reply.setCookie(STATE_COOKIE, state, options);
    return reply.view('home', { baseUrl, clientId, redirectUri, state });
  });

  app.get<{ Querystring: AuthorizationResponse }>('/callback', async (request, reply) => {
    const result = await finish(settings, request.query, request.cookies[STATE_COOKIE]);
    reply.clearCookie(STATE_COOKIE, { path: '/' });
    return reply.header('referrer-policy', 'no-referrer').view('result', { accessToken: null, ...result });
  });
  return app;
}

/** What the page after the return says. */
interface Result {
  readonly title: string;
  readonly text: string;
  readonly accessToken?: string;
  readonly expiresOn?: string;
}

async function finish(
  settings: DemoSettings,
  answer: AuthorizationResponse,
  expectedState?: string,
): Promise<Result> {
  const { code, error, state } = answer;
  if (expectedState === undefined || state !== expectedState) {
    const text = 'The state is not the one that this browser was sent away with.';
    return { title: 'This answer was not asked for', text };
  }
  if (error === 'access_denied') {
    return { title: 'You rejected the request', text: 'The application got no token.' };
  }
  if (code === undefined) return { title: 'There is no code in the answer', text: error ?? '' };
  return exchange(settings, code);
}

async function exchange(settings: DemoSettings, code: string): Promise<Result> {
  const { baseUrl, clientId, clientSecret, redirectUri } = settings;
  const response = await fetch(`${baseUrl}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uri: redirectUri,
    }),
  });
  const body = (await response.json()) as { access_token?: string; expires_in?: number; error?: string };
  if (body.access_token === undefined) return { title: 'The code was not accepted', text: body.error ?? '' };
  return {
    title: 'The application received an access token',
    text: 'It was sent from server to server: your browser never had it before this page showed it to you.',
    accessToken: body.access_token,
    expiresOn: new Date(Date.now() + (body.expires_in ?? 0) * 1000).toISOString().slice(0, 10),
  };
}
