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
export interface DemoSettings {
  readonly baseUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
}

interface Answer {
  code?: string;
  error?: string;
  state?: string;
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

  app.get('/', async (_request, reply) => {
    const state = randomBytes(16).toString('base64url');
    const { baseUrl, clientId, redirectUri } = settings;
    return reply
      .setCookie(STATE_COOKIE, state, {
        path: '/',
        httpOnly: true,
        sameSite: 'lax',
        maxAge: STATE_LIFETIME_SECONDS,
      })
      .header('content-type', 'text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      .view('home', { baseUrl, clientId, redirectUri, state });
  });

  app.get<{ Querystring: Answer }>('/callback', async (request, reply) => {
    const outcome = await finish(settings, request.query, request.cookies[STATE_COOKIE]);
    return reply
      .clearCookie(STATE_COOKIE, { path: '/' })
      .header('content-type', 'text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('referrer-policy', 'no-referrer')
      .view('result', outcome);
  });
  return app;
}

/** What the page after the return says. */
interface Outcome {
  readonly title: string;
  readonly text: string;
  readonly accessToken: string | null;
  readonly expiresOn: string | null;
}

async function finish(
  settings: DemoSettings,
  answer: Answer,
  expectedState: string | undefined,
): Promise<Outcome> {
  if (expectedState === undefined || answer.state !== expectedState) {
    return failed(
      'This answer was not asked for',
      'The state is not the one that this browser was sent away with.',
    );
  }
  if (answer.error === 'access_denied') {
    return failed('You rejected the request', 'The application got no token.');
  }
  if (answer.code === undefined) return failed('There is no code in the answer', answer.error ?? '');
  return exchange(settings, answer.code);
}

async function exchange(settings: DemoSettings, code: string): Promise<Outcome> {
  const response = await fetch(`${settings.baseUrl}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      client_id: settings.clientId,
      client_secret: settings.clientSecret,
      redirect_uri: settings.redirectUri,
    }),
  });
  const body = (await response.json()) as { access_token?: string; expires_in?: number; error?: string };
  if (body.access_token === undefined) return failed('The code was not accepted', body.error ?? '');
  return {
    title: 'The application received an access token',
    text: 'It was sent from server to server: your browser never had it before this page showed it to you.',
    accessToken: body.access_token,
    expiresOn: new Date(Date.now() + (body.expires_in ?? 0) * 1000).toISOString().slice(0, 10),
  };
}

function failed(title: string, text: string): Outcome {
  return { title, text, accessToken: null, expiresOn: null };
}
