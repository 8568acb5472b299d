import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { formTokenFits } from '../flows/formToken.ts';
import { loadAuthorizationRequest } from '../flows/loadRequest.ts';
import { signIn, signOut } from '../flows/signIn.ts';
import type { AuthorizationRequest } from '../oauth/authorizationRequest.ts';
import { Parameters } from '../oauth/parameters.ts';
import {
  clearSessionCookie,
  isFromOwnPage,
  type Site,
  sessionCookie,
  sessionOf,
  setSessionCookie,
} from './browserSession.ts';
import type { SignInPage } from './pages.ts';
import { bodyParameters, OWN_FORM_BODY_LIMIT_BYTES } from './requestParameters.ts';
import { backToRequest, pageOfStep } from './steps.ts';
import { showPage } from './views.ts';

const WRONG = 'The login or the password is wrong.';

/** Signing in and out, on the way to a request or to the account page (contract 5.1). */
export async function signInRoutes(app: FastifyInstance, site: Site): Promise<void> {
  const { context } = site;

  app.post('/sign-in', { bodyLimit: OWN_FORM_BODY_LIMIT_BYTES }, async (request, reply) => {
    const form = bodyParameters(request);
    const goingTo = await carriedRequest(site, form);
    if (!isFromOwnPage(request, site)) return goOn(reply, site, goingTo);
    const login = form.get('login') ?? '';
    const cookie = await signIn(context, login, form.get('password') ?? '', sessionCookie(request, site));
    if (cookie === undefined) return showPage(reply, signInPage(site, goingTo, login, WRONG), 422);
    setSessionCookie(reply, site, cookie);
    return goOn(reply, site, goingTo);
  });

  app.get('/sign-in', async (_request, reply) => reply.redirect(`${site.baseUrl}/account`, 303));

  app.post('/sign-out', { bodyLimit: OWN_FORM_BODY_LIMIT_BYTES }, async (request, reply) => {
    const form = bodyParameters(request);
    await endSession(request, reply, form);
    const goingTo = await carriedRequest(site, form);
    return goOn(reply, site, goingTo);
  });

  async function endSession(request: FastifyRequest, reply: FastifyReply, form: Parameters): Promise<void> {
    const session = await sessionOf(request, site);
    if (session === undefined || !isFromOwnPage(request, site)) return;
    if (!formTokenFits(context, form.get('form_token'), 'sign-out', session)) return;
    await signOut(context, session);
    clearSessionCookie(reply, site);
  }
}

/** The request that a form of ours carries, checked again; null when it leads to the account page. */
async function carriedRequest({ context }: Site, form: Parameters): Promise<AuthorizationRequest | null> {
  const carried = form.get('request');
  return carried === undefined ? null : loadAuthorizationRequest(context, new Parameters(carried));
}

function goOn(reply: FastifyReply, site: Site, request: AuthorizationRequest | null): FastifyReply {
  if (request !== null) return backToRequest(reply, site, request);
  return reply.header('cache-control', 'no-store').redirect(`${site.baseUrl}/account`, 303);
}

/** The sign-in page on the way to `request`, or to the account page when there is none. */
export function signInPage(
  site: Site,
  request: AuthorizationRequest | null,
  login = '',
  error?: string,
): SignInPage {
  if (request === null) {
    return { name: 'sign-in', request: null, clientName: null, login, error: error ?? null };
  }
  const page = pageOfStep(
    site,
    request,
    { step: 'sign-in' },
    { login, ...(error === undefined ? {} : { error }) },
  );
  return page as SignInPage;
}
